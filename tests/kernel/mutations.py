"""Documents damaged at random places."""

import copy


def places(value, path=()):
    """The path of every value inside another."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def inner(value, path):
    for key in path:
        value = value[key]
    return value


def changed_text(text, chance):
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit():
        n = int(text)
        far = [n + chance.randrange(1 << 40), n - chance.randrange(1 << 40), 10**300 + n]
        return str(chance.choice([n + 1, n - 1, -n, 0, 2 * n, n // 2, n + 2, *far]))
    if "/" in text:
        top, bottom = text.split("/", 1)
        return chance.choice([f"{top}1/{bottom}", f"{top}/1{bottom}", "0", "1", "1/2", f"-{text}", f"{top}/{bottom}0"])
    return chance.choice(["0", "1", text + "x", text[:-1], text.swapcase(), text.replace(".", "/")])


def changed(value, chance):
    """Another value, near to this one or of another type."""
    match value:
        case bool():
            return chance.choice([not value, int(value), None])
        case int() | float():
            return chance.choice([value + 1, value - 1, 0, -1, bool(value), str(value), float(value), 1 << 70])
        case str():
            return changed_text(value, chance)
        case None:
            return chance.choice(["0", [], {}, 0, False])
        case [_, *_]:
            shuffled = chance.sample(value, len(value))
            return chance.choice(
                [
                    value[:-1],
                    value + value[-1:],
                    value[::-1],
                    [],
                    value[1:] + value[:1],
                    shuffled,
                    "".join(map(str, value)),
                ]
            )
        case []:
            return chance.choice([["0"], [0], [[]], "", None])
        case _:
            key = chance.choice([*value, "more"])
            kept = {name: part for name, part in value.items() if name != key}
            return chance.choice([kept, value | {"more": None}, dict(reversed(value.items())), list(value)])


def damaged(document, chance):
    """A copy with a few changed places."""
    found = copy.deepcopy(document)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        path = chance.choice(list(places(found)))
        inner(found, path[:-1])[path[-1]] = changed(inner(found, path), chance)
    return found
