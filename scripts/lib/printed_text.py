"""Makes images of printed text, in which networks that read text find something. For equal extents they are equal on
every machine."""
import numpy as np

# Each letter has five columns of seven pixels; the lowest bit is at the top.
GLYPHS = {
    "0": "3E5149453E", "1": "00427F4000", "2": "4261514946", "3": "2141454B31", "4": "1814127F10", "5": "2745454539",
    "6": "3C4A494930", "7": "0171090503", "8": "3649494936", "9": "064949291E", "A": "7E1111117E", "B": "7F49494936",
    "C": "3E41414122", "D": "7F4141221C", "E": "7F49494941", "F": "7F09090101", "G": "3E41415132", "H": "7F0808087F",
    "I": "00417F4100", "J": "2040413F01", "K": "7F08142241", "L": "7F40404040", "M": "7F0204027F", "N": "7F0408107F",
    "O": "3E4141413E", "P": "7F09090906", "Q": "3E4151215E", "R": "7F09192946", "S": "4649494931", "T": "01017F0101",
    "U": "3F4040403F", "V": "1F2040201F", "W": "7F2018207F", "X": "6314081463", "Y": "0304780403", "Z": "6151494543",
}
WORDS = "OPEN EXTENTS 4096 BYTES READ BY KERNEL 17 HEIGHT 32 WIDTH 960 "
ROWS, COLUMNS = 7, 6  # of a letter, including the gap behind it


def letter(character):
    columns = np.frombuffer(bytes.fromhex(GLYPHS.get(character, "00" * 5)), np.uint8)
    return np.pad((columns[None, :] >> np.arange(ROWS)[:, None]) & 1, ((0, 0), (0, 1)))


def blurred(image, reach):
    """Returns the mean over squares of `reach` pixels, because print has no hard edges."""
    if reach < 2:
        return image
    before = reach // 2
    sums = np.pad(image, ((before + 1, reach - 1 - before),) * 2).cumsum(0).cumsum(1)
    return (sums[reach:, reach:] - sums[:-reach, reach:] - sums[reach:, :-reach] + sums[:-reach, :-reach]) / reach**2


def page(dims):
    """Returns [batch, channels, height, width] with lines of dark text on white, from -1 to 1, and a little noise.
    An image of at most 64 pixels in height contains one line."""
    height, width = dims[2:]
    pixel = max(height * 6 // 10 // ROWS, 1) if height <= 64 else max(height // 16 // ROWS, 2)
    size, margin = pixel * ROWS, pixel * 3
    image = np.zeros((height, width))
    fits = max((width - 2 * margin) // (pixel * COLUMNS), 1)
    text = WORDS * (1 + height * fits // len(WORDS))
    top, at = ((height - size) // 2 if height <= 64 else size), 0
    while top + size <= height:
        line = np.concatenate([letter(character) for character in text[at:at + fits]], axis=1)
        drawn = np.kron(line, np.ones((pixel, pixel)))[:, :width - margin]
        image[top:top + size, margin:margin + drawn.shape[1]] = drawn
        top, at = top + 2 * size, at + fits
    return 1 - 2 * blurred(image, max(size // 10, 1)) + 0.02 * np.random.RandomState(0).standard_normal(dims)
