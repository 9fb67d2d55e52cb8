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
    var limit = document.documentElement.clientWidth - tip.offsetWidth - 8;
    var top = box.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(8, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, limit)) + 'px';
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
(function () {
  var factors = {
    '': 1, '×': 1, '%': 0.01, 'B': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9, 'TB': 1e12, 'KiB': 1024, 'MiB': 1048576,
    'GiB': 1073741824, 'TiB': 1099511627776, 'ns': 1e-9, 'µs': 1e-6, 'ms': 1e-3, 's': 1
  };
  var order = new Intl.Collator('en', { numeric: true });

  function main(cell) {
    var text = '';
    cell.childNodes.forEach(function (node) { if (node.nodeName !== 'SMALL') { text += node.textContent; } });
    return text.replace(/\s+/g, ' ').trim();
  }
  function number(text) {
    var found = /^[<+±]? ?(-?[\d,]*\.?\d+) ?([A-Za-zµ%×]*)(?:\/s)?(?= |\(|$)/.exec(text);
    if (!found) { return null; }
    var unit = factors.hasOwnProperty(found[2]) ? found[2] : '';
    return parseFloat(found[1].replace(/,/g, '')) * factors[unit];
  }
  function sort(table, head, column) {
    var body = table.tBodies[0];
    var isDown = head.getAttribute('aria-sort') === 'ascending';
    var rows = Array.prototype.map.call(body.rows, function (row, index) {
      var text = main(row.cells[column]);
      return { row: row, index: index, text: text, number: number(text) };
    });
    var isNumeric = head.classList.contains('number') || rows.every(function (entry) {
      return entry.number !== null || entry.text === '–';
    });
    rows.sort(function (a, b) {
      var difference;
      if (isNumeric && (a.number === null || b.number === null)) {
        return (a.number === null) - (b.number === null) || a.index - b.index;
      }
      difference = isNumeric ? a.number - b.number : order.compare(a.text, b.text);
      return (isDown ? -difference : difference) || a.index - b.index;
    });
    Array.prototype.forEach.call(head.parentNode.cells, function (other) { other.removeAttribute('aria-sort'); });
    head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    rows.forEach(function (entry) { body.appendChild(entry.row); });
  }
  function field(text) {
    // A spreadsheet takes what begins like this for a formula.
    if (/^[=+\-@\t\r]/.test(text) && !/^[+\-]?[\d.,]+/.test(text)) { text = "'" + text; }
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function csv(table) {
    return Array.prototype.map.call(table.rows, function (row) {
      return Array.prototype.map.call(row.cells, function (cell) {
        var detail = cell.querySelector('small');
        return field(main(cell) + (detail ? ' (' + detail.textContent + ')' : ''));
      }).join(',') + '\r\n';
    }).join('');
  }
  function button(text, name, action) {
    var made = document.createElement('button');
    made.type = 'button';
    made.className = name;
    made.textContent = text;
    made.addEventListener('click', action);
    return made;
  }

  var counts = {};
  document.querySelectorAll('.scroll > table').forEach(function (table) {
    var section = table.closest('section');
    var name = section ? section.id : 'table';
    counts[name] = (counts[name] || 0) + 1;
    var file = 'chunkwise-' + name + (counts[name] > 1 ? '-' + counts[name] : '') + '.csv';
    if (table.tBodies[0].rows.length > 1) {
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
        var text = head.textContent;
        if (!text) { return; }
        head.textContent = '';
        head.appendChild(button(text, 'sort', function () { sort(table, head, column); }));
      });
    }
    var save = button('Save as CSV', 'save', function () {
      var link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: 'text/csv' }));
      link.download = file;
      link.click();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    });
    save.setAttribute('aria-label', 'Save as CSV: ' + table.caption.textContent);
    table.parentNode.insertAdjacentElement('afterend', save);
  });
})();
(function () {
  var opened = [];
  window.addEventListener('beforeprint', function () {
    opened = Array.prototype.slice.call(document.querySelectorAll('details:not([open])'));
    opened.forEach(function (details) { details.open = true; });
  });
  window.addEventListener('afterprint', function () {
    opened.forEach(function (details) { details.open = false; });
    opened = [];
  });
})();
