extension PageScript {
    /// Values of marks in pictures: beside the pointer, and for whoever goes from mark to mark by keyboard.
    ///
    /// A picture is one stop of the Tab key; the arrow keys, Home and End go through its marks, Escape hides the value.
    static let values = #"""
        'use strict';
        (function () {
          var tip = document.createElement('div');
          tip.className = 'tip';
          tip.hidden = true;
          tip.setAttribute('aria-hidden', 'true');
          document.body.appendChild(tip);

          function hide() { tip.hidden = true; }
          function markAt(target) { return target && target.closest ? target.closest('.v') : null; }
          function show(mark) {
            if (!mark) { hide(); return; }
            tip.textContent = mark.getAttribute('aria-label');
            tip.hidden = false;
            var box = mark.getBoundingClientRect();
            var room = document.documentElement.clientWidth - tip.offsetWidth - 8;
            var top = box.top - tip.offsetHeight - 8;
            tip.style.left = Math.max(8, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, room)) + 'px';
            tip.style.top = (top < 8 ? box.bottom + 8 : top) + 'px';
          }

          function prepare(picture) {
            var marks = Array.prototype.slice.call(picture.querySelectorAll('.v'));
            if (!marks.length) { return; }
            var current = 0;
            picture.setAttribute('role', 'group');
            marks.forEach(function (mark, index) {
              var title = mark.querySelector('title');
              mark.setAttribute('role', 'img');
              mark.setAttribute('aria-label', title.textContent);
              mark.setAttribute('tabindex', index ? '-1' : '0');
              mark.removeChild(title);
            });
            function go(index) {
              marks[current].setAttribute('tabindex', '-1');
              current = Math.max(0, Math.min(index, marks.length - 1));
              marks[current].setAttribute('tabindex', '0');
              marks[current].focus();
            }
            picture.addEventListener('focusin', function (event) { show(markAt(event.target)); });
            picture.addEventListener('focusout', hide);
            picture.addEventListener('pointerover', function (event) { show(markAt(event.target)); });
            picture.addEventListener('pointerleave', hide);
            picture.addEventListener('keydown', function (event) {
              var moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
              if (event.key === 'Escape') { hide(); return; }
              if (event.key in moves) { go(current + moves[event.key]); }
              else if (event.key === 'Home') { go(0); }
              else if (event.key === 'End') { go(marks.length - 1); }
              else { return; }
              event.preventDefault();
            });
          }
          Array.prototype.forEach.call(document.querySelectorAll('svg.chart'), prepare);
          var caption = document.querySelector('.picture figcaption');
          if (caption) {
            var hint = document.createElement('span');
            hint.className = 'hint';
            hint.textContent = ' To see values, point at a mark, or go to a picture with Tab and through it with the arrow keys.';
            caption.appendChild(hint);
          }
          window.addEventListener('scroll', hide, { passive: true });
        })();

        """#
}
