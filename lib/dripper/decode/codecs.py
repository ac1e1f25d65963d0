"""Decodes bytes as the WHATWG encoding standard does, with Python's codecs.

Python's tables differ from the standard in a few points, which this module corrects:

- Bytes that Windows leaves undefined. In the standard, they are control characters.
- The euro sign at 0x80 in GBK, NEC's and IBM's characters in EUC-JP, and 23 other characters.
- The number of bytes to skip after an error.

With these corrections, all characters in the standard's indexes decode correctly, except 203 in
Big5 (Hong Kong extensions) and one in JIS X 0212.
"""

import codecs
from functools import cache

import webencodings  # type: ignore[import-untyped]

_MAX_MENDED = 10_000
"""Maximum number of decoding errors to correct one by one (0.7 µs each). A page with more errors is
not in that encoding: one UTF-8 page that declares EUC-JP has 21,529."""

_CODECS = {
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_WHOLE_CODECS = {"utf-8": "utf-8", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be", "iso-2022-jp": "iso2022_jp_ext"}

_EUC_JP_SIGNS = tuple(zip("〜‖−¢£¬", "～∥－￠￡￢", strict=True))
"""(Python's character, the standard's character) in EUC-JP. They differ because the standard's
index jis0208 follows Microsoft."""

_GB_18030_NEW = tuple(
    zip(
        "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
        "　︐︒︑︓︔︕︖︗︘︙ḿ龴龵龶龷龸龹龺龻",
        strict=True,
    )
)
"""(private-use character of GB 18030-2000, its successor in GB 18030-2022). The standard uses the
successors."""

_CORRECTIONS = {"euc-jp": _EUC_JP_SIGNS, "gbk": _GB_18030_NEW, "gb18030": _GB_18030_NEW}

_OTHERS = {("koi8-u", 0xAE): "ў", ("koi8-u", 0xBE): "Ў", ("windows-1255", 0xCA): "\u05ba"}


def decode_as(data: bytes, name: str) -> str:
    """Decode bytes that do not begin with a byte order mark. Unknown bytes become U+FFFD.

    Args:
        name: The name of an encoding in the standard, in lower case.

    >>> decode_as(b"\\x80 \\x81", "windows-1252"), decode_as(b"\\xad\\xa1", "euc-jp")
    ('€ \\x81', '①')
    """
    if name == "replacement":
        return "\ufffd" if data else ""
    if name in _WHOLE_CODECS:
        return data.decode(_WHOLE_CODECS[name], "replace")
    if name in _CODECS:
        text = _decode_multibyte(data, name)
        # On a 226 KB page, `str.translate` takes 20 ms, and these replacements take 0.04 ms.
        for old, new in _CORRECTIONS.get(name, ()):
            text = text.replace(old, new)
        return text
    return codecs.charmap_decode(data, "strict", _build_table(name))[0]


@cache
def _build_table(name: str) -> str:
    """Return the 256 characters of a single-byte encoding."""
    decode = webencodings.lookup(name).codec_info.decode
    characters = []
    for byte in range(256):
        if (name, byte) in _OTHERS:
            characters.append(_OTHERS[name, byte])
            continue
        try:
            characters.append(decode(bytes((byte,)), "strict")[0])
        except UnicodeDecodeError:
            characters.append(chr(byte) if 0x80 <= byte < 0xA0 else "\ufffd")
    return "".join(characters)


def _decode_multibyte(data: bytes, name: str) -> str:
    """Decode an East Asian encoding. On an error, consume as many bytes as the standard does, and
    continue after them."""
    codec = _CODECS[name]
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        replaced = data.decode(codec, "replace")
    return replaced if replaced.count("\ufffd") > _MAX_MENDED else data.decode(codec, _register_mending(name))


@cache
def _register_mending(name: str) -> str:
    """Register the error handler of an encoding once, and return the handler's name."""

    def mend(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        character, size = _mend(error.object[error.start : error.start + 2], name)
        return character, error.start + size

    handler = f"dripper-{name}"
    codecs.register_error(handler, mend)
    return handler


def _mend(pair: bytes, name: str) -> tuple[str, int]:
    """Return the character for bytes that Python rejects, and the number of bytes to consume."""
    if pair[0] == 0x80 and name in ("gbk", "gb18030"):
        return "€", 1
    if len(pair) < 2 or pair[1] < 0x80 or pair[0] in (0x80, 0xFF):
        return "\ufffd", 1
    if name == "euc-jp" and pair[0] >= 0xA1 <= pair[1]:
        return _decode_microsoft_kanji(pair[0] - 0xA0, pair[1] - 0xA0), 2
    return "\ufffd", 2


def _decode_microsoft_kanji(row: int, cell: int) -> str:
    """Return the character at a row and cell of JIS X 0208 with NEC's and IBM's extensions. Only
    Python's Shift_JIS codec has these extensions."""
    lead = (row + 1) // 2 + (0x80 if row <= 62 else 0xC0)
    trail = cell + (0x9E if row % 2 == 0 else 0x3F if cell <= 63 else 0x40)
    return bytes((lead, trail)).decode("cp932", "replace")[:1]
