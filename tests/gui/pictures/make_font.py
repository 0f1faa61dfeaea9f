"""Makes box.ttf: a font in which each letter is a box, a wide one for capitals and signs, a narrower one for the rest.

Text has the same extents with it on every machine, whatever fonts and whatever FreeType it has, and it is called as the
fonts that the window asks for first. Needs fonttools.
"""

import glob
import sys

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

ROOT = sys.argv[1]
FAMILIES = {"box_ui.ttf": "Inter", "box_mono.ttf": "JetBrains Mono"}


def box(advance):
    pen = TTGlyphPen(None)
    corners = [(50, 0), (50, 700), (advance - 50, 700), (advance - 50, 0)]
    pen.moveTo(corners[0])
    for corner in corners[1:]:
        pen.lineTo(corner)
    pen.closePath()
    return pen.glyph()


def letters():
    found = set(range(0x20, 0x7F))
    for pattern in ("ui/**/*.cpp", "ui/**/*.h", "core/**/*.cpp"):
        for path in glob.glob(f"{ROOT}/{pattern}", recursive=True):
            with open(path, encoding="utf-8") as file:
                found |= {ord(letter) for letter in file.read() if ord(letter) > 0x7E}
    return found


for name, family in FAMILIES.items():
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "narrow", "wide"])
    mono = "mono" in name
    builder.setupCharacterMap(
        {code: "narrow" if mono or chr(code).islower() or code == 0x20 else "wide" for code in letters()}
    )
    builder.setupGlyf({".notdef": box(500), "narrow": box(500), "wide": box(700)})
    builder.setupHorizontalMetrics({".notdef": (500, 50), "narrow": (500, 50), "wide": (700, 50)})
    builder.setupHorizontalHeader(ascent=900, descent=-250)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, sTypoDescender=-250, usWinAscent=900, usWinDescent=250, ulUnicodeRange1=1, ulCodePageRange1=1)
    builder.setupPost(isFixedPitch=mono)
    builder.save(f"{ROOT}/tests/gui/pictures/{name}")
