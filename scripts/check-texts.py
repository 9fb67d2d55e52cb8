"""Looks at what people read: documents, help texts, messages in scripts. For scripts/check; needs no build."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 120
faults = []


def fault(path, line, text):
    faults.append(f"{path}:{line}: {text}")


def tracked(*patterns):
    """Files that git tracks, or would if they were added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def fenced(lines):
    """Each line's number, the line, and the language of the block of code that it stands in, or None."""
    language = None
    for number, line in enumerate(lines, 1):
        if line.strip().startswith("```"):
            language = None if language is not None else line.strip()[3:]
            yield number, line, None
        else:
            yield number, line, language


def anchors(document):
    """The names that GitHub gives to a document's headings."""
    found = set()
    for _, line, language in fenced(document.split("\n")):
        if language is None and line.startswith("#"):
            heading = line.lstrip("# ").lower()
            found.add("".join(c for c in heading if c.isalnum() or c in " -_").replace(" ", "-"))
    return found


def check_lines(name):
    for number, line in enumerate(text(name).split("\n"), 1):
        if len(line) > WIDTH and not (name.endswith(".md") and line.startswith("|")) and "://" not in line:
            fault(name, number, f"{len(line)} characters: expected at most {WIDTH}")


def check_links(name):
    document = text(name)
    for number, line in enumerate(document.split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if "://" in target or target.startswith("mailto:"):
                continue
            path, _, anchor = target.partition("#")
            file = ROOT / name if not path else (ROOT / name).parent / path
            if not file.exists():
                fault(name, number, f"a link to {target}: no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
                fault(name, number, f"a link to {target}: no such heading")


def kebab(name):
    return re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).lower()


def known_names(sources):
    """The commands and the long options that the program has, as its sources declare them."""
    commands, options = {"help"}, {"help", "help-hidden", "version", "experimental-dump-help", "generate-completion-script"}
    for source in sources:
        commands.update(re.findall(r'commandName: "([a-z-]+)"', source))
        options.update(re.findall(r'customLong\(\s*"([a-z-]+)"', source))
        for match in re.finditer(r"@(Option|Flag)\b(.*?)\bvar (\w+)", source, re.DOTALL):
            options.add(kebab(match[3]))
            if "inversion" in match[2]:
                options.update({f"no-{kebab(match[3])}", f"enable-{kebab(match[3])}", f"disable-{kebab(match[3])}"})
    # An enumeration of flags has an option for each case.
    for source in sources:
        for body in re.findall(r"enum \w+: [^{]*EnumerableFlag[^{]*\{(.*?)\n\s*\}", source, re.DOTALL):
            for cases in re.findall(r"case ([^\n]+)", body):
                options.update(kebab(case.strip()) for case in cases.split(","))
    return commands, options


def check_command(name, number, line, commands, options):
    """A command line of chunkwise's in a document or a help text."""
    for part in re.split(r"\||;|&&|\$\(", line):
        words = part.replace("'", " ").replace('"', " ").split()
        if "chunkwise" not in words:
            continue
        words = words[words.index("chunkwise") + 1:]
        if words and re.fullmatch(r"[a-z][a-z-]+", words[0]) and words[0] not in commands:
            fault(name, number, f"chunkwise {words[0]}: no such command")
        if words and words[0] == "encrypt" and re.search(r"--iv(?!-)", line):
            fault(name, number, "encrypt --iv: who copies it for a second file has two of one IV: expected none")
        for word in words:
            option = re.match(r"--([a-z][a-z-]+)", word)
            if option and option[1] not in options:
                fault(name, number, f"--{option[1]}: no command has this option")


def check_help(name, commands, options):
    """The explanations of commands: examples, exit codes, and nothing that the terminal would break."""
    source = text(name)
    for block in re.finditer(r'helpText\(\s*"""\n(.*?)\n\s*"""', source, re.DOTALL):
        first = source[:block.start(1)].count("\n") + 1
        lines = block[1].split("\n")
        if not {"EXAMPLES", "EXAMPLE"} & {line.strip() for line in lines}:
            fault(name, first, "a help text without EXAMPLES")
        if "EXIT CODES" not in {line.strip() for line in lines}:
            fault(name, first, "a help text without EXIT CODES")
        for number, line in enumerate(lines, first):
            if "chunkwise " in line:
                check_command(name, number, line.strip(), commands, options)


# Unfinished work, and paths of one machine.
WORDS = re.compile(r"\b(TODO|FIXME|XXX)\b|(?<![\w./-])/(?:home|root|work|Users)/\w")


def check_words(name):
    for number, line in enumerate(text(name).split("\n"), 1):
        found = WORDS.search(line)
        if found:
            fault(name, number, f'"{found[0]}": expected neither unfinished work nor a path of one machine')


def main():
    documents = [n for n in tracked("*.md") if not n.startswith(("reports/", "Tests/ReportTests/Golden"))]
    tools = tracked("Sources/Tools/*.swift")
    scripts = [n for n in tracked(".ci", "scripts", "Benchmarks", "*.py", "*.sh")
               if not n.startswith("reports/") and not n.endswith((".txt", ".patch", ".swift", ".md"))]
    commands, options = known_names([text(n) for n in tools])
    for name in documents:
        check_lines(name)
        check_links(name)
        begun = ""
        for number, line, language in fenced(text(name).split("\n")):
            if language == "console" and line.startswith("$ "):
                check_command(name, number, line, commands, options)
            if language == "sh":
                line = begun + line.split(" # ")[0]
                begun = line[:-1] if line.endswith("\\") else ""
                if not begun:
                    check_command(name, number, line, commands, options)
    for name in tools:
        check_help(name, commands, options)
    # Comments and strings, which swift format leaves as they are. The rules of vectors are lines of the vector files.
    for name in tracked("Sources/*.swift"):
        if not name.endswith("VectorRules.swift"):
            check_lines(name)
    for name in documents + tracked("Sources/*.swift", "Tests/*.swift") + scripts:
        if name != "scripts/check-texts.py":
            check_words(name)
    for line in faults:
        print(line)
    return 1 if faults else 0


sys.exit(main())
