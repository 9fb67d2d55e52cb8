"""A key session for the scenarios of data/scenarios, by the rules of data/scenarios/PROTOCOL.md."""
import json
import random
import sys

PASSING = {"timedOut", "unreachable", "busy"}


class Key:
    """What is known about one key."""

    def __init__(self):
        self.due = None
        self.question = None
        self.attempts = 0
        self.waiting = {}  # by reader: since when
        self.online = None  # when it expires; infinity for one that does not
        self.stored = None
        self.to_store = False
        self.spent = None
        self.last_failure = None
        self.refusal = None  # the failure, and until when it stands

    def start_over(self):
        self.attempts, self.last_failure, self.refusal = 0, None, None


class Session:
    def __init__(self, policy, device, seed):
        self.policy, self.device, self.random = policy, device, random.Random(seed)
        self.keys, self.questions, self.reads = {}, {}, {}
        self.last_question = 0
        self.route, self.accepts = "local", True
        self.online, self.closed, self.noticed = True, False, False
        self.latest = None
        self.actions = []

    def handle(self, event, now, wall):
        self.now, self.wall, self.actions = now, wall, []
        if self.closed:
            self.after_close(event)
            return self.actions
        self.look_at_clock()
        self.pass_time()
        if event["event"] != "tick":
            members = {member: value for member, value in event.items() if member != "event"}
            self.EVENTS[event["event"]](self, **members)
        if not self.closed:
            self.ask_what_is_due()
        return self.actions

    def deadline(self):
        if self.closed:
            return None
        times = [question["end"] for question in self.questions.values()]
        for key in self.keys.values():
            times += [since + self.policy["patience"] for since in key.waiting.values()]
            if self.online and key.due is not None:
                times.append(key.due)
            if key.online is not None and key.online != float("inf"):
                times.append(key.online)
            if key.stored and self.latest:
                times.append(self.latest[0] + self.expiry(key.stored) - self.latest[1])
        for use in self.reads.values():
            stored = self.keys[use["key"]].stored
            if use["kind"] == "persistable" and stored and self.latest:
                times.append(self.latest[0] + stored["lastSeen"] - self.latest[1])
        return max(0, min(times)) if times else None

    # What is done

    def do(self, action, **members):
        self.actions.append({"action": action, **members})

    def notice(self, notice, **members):
        self.do("notice", notice=notice, **members)

    def key(self, name):
        return self.keys.setdefault(name, Key())

    # The clock

    def look_at_clock(self):
        self.trusted = self.wall
        if self.latest:
            self.trusted = max(self.wall, self.latest[1] + self.now - self.latest[0])
        if self.wall >= self.trusted:
            self.latest = (self.now, self.wall)
        self.behind = self.trusted - self.wall > self.policy["clockTolerance"]
        if self.behind and not self.noticed:
            self.notice("clockSetBack")
        self.noticed = self.behind

    def pass_time(self):
        for number in sorted(self.questions):
            question = self.questions[number]
            if question["end"] <= self.now:
                del self.questions[number]
                self.do("cancel", exchange=number)
                for name in question["keys"]:
                    self.fails(name, "timedOut")
        for name in sorted(self.keys):
            key = self.keys[name]
            for reader, since in list(key.waiting.items()):
                if since + self.policy["patience"] <= self.now:
                    self.do("refuse", reader=reader, key=name, failure="waitedTooLong")
                    del key.waiting[reader]
            if key.online is not None and key.online <= self.now:
                key.online = None
                self.end_reads(name, "online", "validityExpired")
                self.do("forget", key=name, kind="online")
            stored = key.stored
            if stored and self.trusted >= self.expiry(stored):
                key.stored, key.spent = None, self.expired(stored)
                self.end_reads(name, "persistable", key.spent)
                self.do("forget", key=name, kind="persistable")
                self.do("erase", key=name, generation=stored["generation"])
            elif stored and self.useless(stored):
                self.end_reads(name, "persistable", self.useless(stored))
            elif stored and {"key": name, "kind": "persistable"} in self.reads.values():
                self.pay_ahead(name, stored)

    # Stored keys

    @staticmethod
    def expiry(stored):
        if stored.get("firstUse") is not None:
            return stored["firstUse"] + stored["playback"]
        return stored["receivedAt"] + stored["storage"]

    @staticmethod
    def expired(stored):
        return "storageExpired" if stored.get("firstUse") is None else "playbackExpired"

    def useless(self, stored):
        if not self.accepts:
            return "persistableNotAccepted"
        if self.behind:
            return "clockSetBack"
        return self.expired(stored) if self.trusted >= self.expiry(stored) else None

    def pay_ahead(self, name, stored):
        if stored.get("firstUse") is None or stored["lastSeen"] <= self.trusted:
            if stored.get("firstUse") is None:
                stored["firstUse"] = self.trusted
            self.store(name, stored, self.trusted + max(self.policy["clockTolerance"] // 10, 1_000_000))

    def store(self, name, stored, last_seen=None):
        stored["generation"] += 1
        stored["lastSeen"] = self.trusted if last_seen is None else last_seen
        self.do("store", key=name, generation=stored["generation"], used=stored.get("firstUse") is not None)
        if stored["generation"] > 1:
            self.do("erase", key=name, generation=stored["generation"] - 1)

    def usable(self, name):
        key = self.keys.get(name)
        if key and key.stored and not self.useless(key.stored):
            return "persistable"
        if key and key.online is not None and key.online > self.now:
            return "online"
        return None

    def standing(self, key):
        return key.refusal[0] if key.refusal and key.refusal[1] > self.now else None

    def hopeless(self, key):
        """Why it leads nowhere to wait for a key."""
        if self.standing(key) or self.online:
            return self.standing(key)
        return (self.useless(key.stored) if key.stored else None) or key.spent

    # Asking

    def make_due(self, key):
        if key.question is None and key.attempts == 0:
            soon = self.now + self.policy["gatherTime"]
            key.due = soon if key.due is None else min(key.due, soon)

    def ask_what_is_due(self):
        if not self.online or not any(key.due is not None and key.due <= self.now for key in self.keys.values()):
            return
        due = []
        for name in sorted(self.keys, key=lambda name: name.encode()):
            key = self.keys[name]
            held = self.policy["gatherTime"] if key.attempts == 0 else 0
            if key.due is not None and key.due <= self.now + held:
                due.append(name)
        for to_store in (False, True):
            names = [name for name in due if (self.accepts and self.keys[name].to_store) == to_store]
            most = self.policy["mostInBatch"]
            for start in range(0, len(names), most):
                self.ask(names[start:start + most], to_store)

    def ask(self, names, to_store):
        self.last_question += 1
        number = self.last_question
        self.questions[number] = {"keys": names, "end": self.now + self.policy["timeLimit"]}
        for name in names:
            key = self.keys[name]
            key.due, key.question = None, number
            key.attempts += 1
        self.do("ask", exchange=number, keys=names, route=self.route, persistable=to_store)

    def fails(self, name, failure, retry_after=None):
        key = self.key(name)
        key.question = None
        if failure in PASSING and key.attempts < self.policy["attempts"]:
            whole = min(self.policy["firstPause"] * 2 ** (key.attempts - 1), self.policy["longestPause"])
            pause = int(whole / 2 + self.random.random() * whole / 2)
            key.due, key.last_failure = self.now + max(pause, retry_after or 0), failure
            for reader in key.waiting:
                self.do("report", reader=reader, key=name, failure=failure)
            return
        if failure in PASSING:
            failure = "gaveUp"
        key.start_over()
        key.due, key.to_store = None, False
        key.refusal = (failure, self.now + self.policy["refusalMemory"])
        for reader in key.waiting:
            self.do("refuse", reader=reader, key=name, failure=failure)
        if not key.waiting:
            self.notice("notPreloaded", key=name, failure=failure)
        key.waiting = {}

    def cancel_all(self):
        asked = []
        for number in sorted(self.questions):
            self.do("cancel", exchange=number)
            asked += self.questions[number]["keys"]
        for name in asked:
            self.keys[name].question = None
        self.questions = {}
        return asked

    def hand_out(self, name, kind):
        key = self.keys[name]
        for reader in key.waiting:
            self.do("deliver", reader=reader, key=name, kind=kind)
        key.waiting = {}

    # Events

    def want(self, reader, keys):
        for name in dict.fromkeys(keys):
            kind = self.usable(name)
            if kind:
                self.do("deliver", reader=reader, key=name, kind=kind)
                continue
            key = self.key(name)
            if self.hopeless(key):
                self.do("refuse", reader=reader, key=name, failure=self.hopeless(key))
                continue
            if reader in key.waiting:
                continue
            key.waiting[reader] = self.now
            self.make_due(key)
            if not self.online:
                self.do("report", reader=reader, key=name, failure="networkLost")
            elif key.due is not None and key.last_failure:
                self.do("report", reader=reader, key=name, failure=key.last_failure)

    def abandon(self, reader):
        for key in self.keys.values():
            key.waiting.pop(reader, None)

    def preload(self, keys):
        for name in dict.fromkeys(keys):
            if not self.usable(name):
                self.ask_ahead(name)

    def persist(self, keys):
        for name in dict.fromkeys(keys):
            if not self.accepts:
                self.notice("notPreloaded", key=name, failure="persistableNotAccepted")
            elif not self.key(name).stored:
                self.key(name).to_store = True
                self.ask_ahead(name)

    def ask_ahead(self, name):
        key = self.key(name)
        if self.standing(key):
            self.notice("notPreloaded", key=name, failure=self.standing(key))
        else:
            self.make_due(key)

    def rotation(self, key, appearsIn):
        known = self.key(key)
        if self.usable(key) or known.due is not None or known.question is not None:
            return
        lead = min(self.policy["leadTime"], appearsIn)
        window = min(self.policy["dispersalWindow"], appearsIn - lead)
        start = appearsIn - lead - window
        known.due = self.now + start + int(self.random.random() * window)

    def retire(self, keys):
        for name in dict.fromkeys(keys):
            key = self.keys.get(name)
            used = any(read["key"] == name for read in self.reads.values())
            if not key or key.waiting or key.question is not None or used:
                continue
            if key.online is not None:
                self.do("forget", key=name, kind="online")
            key.online, key.due = None, None
            key.start_over()

    def answer(self, exchange, answers):
        question = self.questions.pop(exchange, None)
        if question is None:
            self.notice("unexpectedAnswer", exchange=exchange)
            return
        rest, strange = list(question["keys"]), False
        for name in rest:
            self.keys[name].question = None
        for answer in answers:
            name = answer["key"]
            if name not in rest:
                strange = strange or name not in question["keys"]
                self.notice("unaskedKey", exchange=exchange, key=name)
                continue
            rest.remove(name)
            if "failure" in answer:
                self.fails(name, answer["failure"], answer.get("retryAfter"))
            elif answer["byteCount"] != 16:
                self.fails(name, "wrongLength")
            elif "storage" in answer and not self.accepts:
                self.fails(name, "persistableNotAccepted")
            else:
                self.take(name, exchange, answer)
        for name in rest:
            self.fails(name, "otherIdentifier" if strange else "missing")

    def take(self, name, exchange, answer):
        key = self.keys[name]
        kind = "persistable" if "storage" in answer else "online"
        self.do("keep", exchange=exchange, key=name, kind=kind)
        if kind == "online":
            key.online = self.now + answer["validity"] if "validity" in answer else float("inf")
        else:
            generation = key.stored["generation"] if key.stored else 0
            key.stored = {
                "generation": generation, "storage": answer["storage"], "playback": answer["playback"],
                "receivedAt": self.trusted}
            self.store(name, key.stored)
        key.start_over()
        key.due, key.to_store, key.spent = None, False, None
        self.hand_out(name, kind)

    def fail(self, exchange, failure, retryAfter=None):
        question = self.questions.pop(exchange, None)
        if question is None:
            self.notice("unexpectedAnswer", exchange=exchange)
            return
        for name in question["keys"]:
            self.fails(name, failure, retryAfter)

    def networkLost(self):
        if not self.online:
            return
        self.online = False
        for name in self.cancel_all():
            self.keys[name].due = self.now
            self.keys[name].attempts -= 1
        for name in sorted(self.keys):
            key = self.keys[name]
            failure = self.hopeless(key)
            for reader in key.waiting:
                self.do("refuse" if failure else "report", reader=reader, key=name, failure=failure or "networkLost")
            if failure and key.waiting:
                key.waiting, key.due, key.attempts = {}, None, 0

    def networkFound(self):
        if self.online:
            return
        self.online = True
        for key in self.keys.values():
            key.start_over()
            if key.waiting:
                key.due = self.now

    def change_route(self, route, acceptsPersistable):
        if (route, acceptsPersistable) == (self.route, self.accepts):
            return
        asked = self.cancel_all()
        self.route, self.accepts = route, acceptsPersistable
        for name in sorted(self.keys):
            key = self.keys[name]
            needed = name in asked or bool(key.waiting)
            if key.online is not None:
                needed = True
                self.do("forget", key=name, kind="online")
                self.end_reads(name, "online", "routeChanged")
                key.online = None
            if not self.accepts and self.end_reads(name, "persistable", "routeChanged"):
                needed = True
            key.start_over()
            kind = self.usable(name)
            if kind:
                key.due = None
                self.hand_out(name, kind)
            elif needed:
                key.due = self.now

    def found(self, key, **stored):
        known = self.key(key)
        failure = None
        if stored["device"] != self.device:
            failure = "otherDevice"
        elif known.stored and known.stored["generation"] >= stored["generation"]:
            if known.stored["generation"] > stored["generation"]:
                self.do("erase", key=key, generation=stored["generation"])
            return
        elif stored["lastSeen"] - self.trusted > self.policy["clockTolerance"]:
            failure = "clockSetBack"
        else:
            if stored["lastSeen"] > self.trusted:
                self.trusted, self.latest = stored["lastSeen"], (self.now, stored["lastSeen"])
        if not failure and self.trusted >= self.expiry(stored):
            failure = self.expired(stored)
            self.do("erase", key=key, generation=stored["generation"])
        if failure:
            known.spent = failure
            self.notice("storedUnusable", key=key, failure=failure)
            return
        older, known.stored, known.spent = known.stored, stored, None
        self.do("adopt", key=key, generation=stored["generation"])
        if older:
            self.do("erase", key=key, generation=older["generation"])
        if self.accepts:
            known.due = None
            self.hand_out(key, "persistable")

    def readBegan(self, read, key):
        kind = self.usable(key)
        known = self.key(key)
        if not kind:
            failure = (self.useless(known.stored) if known.stored else None) or known.spent or "missing"
            self.do("endRead", read=read, failure=failure)
            return
        self.reads[read] = {"key": key, "kind": kind}
        if kind == "persistable":
            self.pay_ahead(key, known.stored)
        self.do("permit", read=read, kind=kind)

    def readEnded(self, read):
        self.reads.pop(read, None)

    def end_reads(self, name, kind, failure):
        ended = [read for read, use in sorted(self.reads.items()) if use == {"key": name, "kind": kind}]
        for read in ended:
            del self.reads[read]
            self.do("endRead", read=read, failure=failure)
        return ended

    def close(self):
        self.cancel_all()
        for name in sorted(self.keys):
            key = self.keys[name]
            for reader in key.waiting:
                self.do("refuse", reader=reader, key=name, failure="closed")
            for kind, is_there in (("online", key.online is not None), ("persistable", key.stored)):
                self.end_reads(name, kind, "closed")
                if kind == "persistable" and key.stored and key.stored["lastSeen"] > self.trusted:
                    self.store(name, key.stored)
                if is_there:
                    self.do("forget", key=name, kind=kind)
        self.closed = True

    EVENTS = {
        "want": want, "abandon": abandon, "preload": preload, "persist": persist, "rotation": rotation,
        "retire": retire, "answer": answer, "fail": fail, "route": change_route, "networkLost": networkLost,
        "networkFound": networkFound, "found": found, "readBegan": readBegan, "readEnded": readEnded, "close": close,
    }

    def after_close(self, event):
        if event["event"] == "want":
            for name in dict.fromkeys(event["keys"]):
                self.do("refuse", reader=event["reader"], key=name, failure="closed")
        elif event["event"] == "readBegan":
            self.do("endRead", read=event["read"], failure="closed")
        elif event["event"] in ("answer", "fail"):
            self.notice("unexpectedAnswer", exchange=event["exchange"])


def answer(request, sessions):
    op = request["op"]
    if op == "hello":
        if request["protocol"] != 1:
            return {"ok": False, "error": "unsupported", "message": "protocol: expected 1"}
        return {"ok": True, "protocol": 1, "name": "key-session", "version": "1", "keySessions": 2}
    if op == "session" and request["id"] not in sessions:
        sessions[request["id"]] = Session(request["policy"], request["device"], request["seed"])
        return {"ok": True}
    if op == "event":
        session = sessions[request["id"]]
        actions = session.handle(request["event"], request["monotonic"], request["wall"])
        deadline = session.deadline()
        return {"ok": True, "actions": actions} | ({} if deadline is None else {"deadline": deadline})
    if op == "close":
        del sessions[request["id"]]
        return {"ok": True}
    if op == "bye":
        return {"ok": True}
    return {"ok": False, "error": "invalidRequest", "message": f"{op}: expected an operation that is possible now"}


def main():
    sessions = {}
    for line in sys.stdin:
        request = {}
        try:
            request = json.loads(line)
            reply = answer(request, sessions)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reply = {"ok": False, "error": "invalidRequest", "message": f"{type(error).__name__}: expected a request"}
        print(json.dumps(reply), flush=True)
        if reply["ok"] and request["op"] == "bye":
            return


main()
