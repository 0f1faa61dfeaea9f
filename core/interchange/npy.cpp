// The .npy format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// Magic, version, header length, a Python dictionary literal with descr, fortran_order and shape, then the elements.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/utf8.h"
#include "interchange/codes.h"
#include "interchange/npz.h"
#include "ir/tensor.h"

namespace fusescope {
namespace {

/// Text in numpy's form: descr ("<U12") and bytes.
struct NpyText {
  std::string descr;
  std::string bytes;
};

constexpr std::size_t kCharacterBytes = 4;

Result<std::u32string> charactersOf(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    if (!character) return Diagnostic{.message = "holds text that is not valid UTF-8, which .npy cannot hold"};
    characters += character->code;
    at += character->length;
  }
  return characters;
}

/// Returns the number of characters of an element of a .npy array of text ("<U12": 12), at least 1; nothing if `descr`
/// is another type.
std::optional<std::size_t> npyTextWidth(std::string_view descr) {
  if (!descr.starts_with("<U")) return std::nullopt;
  std::size_t width = 0;
  const char* end = descr.data() + descr.size();
  const auto read = std::from_chars(descr.data() + 2, end, width);
  const bool whole = read.ec == std::errc() && read.ptr == end && width > 0 && width < std::size_t{1} << 24;
  return whole ? std::optional(width) : std::nullopt;
}

/// Returns the bytes of one element.
std::size_t npyTextBytes(std::size_t width) {
  return width * kCharacterBytes;
}

/// Converts text from numpy's form, UTF-32 in elements of equal width padded with zeros, to UTF-8. `bytes` must contain
/// all elements. Errors: an invalid character.
Result<Tensor> textFromNpy(std::span<const std::byte> bytes, std::size_t width, const Dims& dims) {
  std::vector<std::string> strings(static_cast<std::size_t>(elementCount(dims).value_or(0)));
  std::u32string characters(width, U'\0');
  for (std::size_t i = 0; i < strings.size(); ++i) {
    std::memcpy(characters.data(), bytes.data() + i * npyTextBytes(width), npyTextBytes(width));
    const auto last = characters.find_last_not_of(U'\0');
    for (std::size_t at = 0; last != std::u32string::npos && at <= last; ++at) {
      if (!isUnicodeCharacter(characters[at])) return Diagnostic{.message = "contains a code that is not a character"};
      appendUtf8(strings[i], characters[at]);
    }
  }
  return Tensor::ofStrings(dims, std::move(strings));
}

Result<NpyText> textToNpy(const Tensor& tensor) {
  std::vector<std::u32string> strings;
  std::size_t width = 1;  // numpy has no text of width 0
  for (const std::string& text : tensor.strings()) {
    strings.push_back(TRY(charactersOf(text)));
    width = std::max(width, strings.back().size());
  }
  NpyText result{.descr = "<U" + std::to_string(width), .bytes = {}};
  for (std::u32string& text : strings) {
    text.resize(width, U'\0');
    result.bytes.append(reinterpret_cast<const char*>(text.data()), npyTextBytes(width));
  }
  return result;
}

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortranOrder = false;
  Dims shape;
};

/// Reads the header's dictionary literal: only what numpy writes, nothing is evaluated.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : m_rest(text) {}

  std::optional<Header> read() {
    Header header;
    bool haveDescr = false, haveOrder = false, haveShape = false;
    if (!take('{')) return {};
    while (!take('}')) {
      const auto key = quotedText();
      if (!key || !take(':')) return {};
      if (*key == "descr") {
        const auto descr = quotedText();
        if (!descr) return {};
        header.descr = *descr;
        haveDescr = true;
      } else if (*key == "fortran_order") {
        haveOrder = true;
        if (takeWord("True")) {
          header.fortranOrder = true;
        } else if (!takeWord("False")) {
          return {};
        }
      } else if (*key == "shape") {
        if (!shape(header.shape)) return {};
        haveShape = true;
      } else {
        return {};
      }
      take(',');
    }
    if (!haveDescr || !haveOrder || !haveShape) return {};
    return header;
  }

 private:
  void skipSpace() {
    while (!m_rest.empty() && (m_rest.front() == ' ' || m_rest.front() == '\n')) m_rest.remove_prefix(1);
  }
  bool take(char c) {
    skipSpace();
    if (m_rest.empty() || m_rest.front() != c) return false;
    m_rest.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> quotedText() {
    skipSpace();
    if (m_rest.empty() || (m_rest.front() != '\'' && m_rest.front() != '"')) return {};
    const char quote = m_rest.front();
    const auto end = m_rest.find(quote, 1);
    if (end == std::string_view::npos) return {};
    std::string text(m_rest.substr(1, end - 1));
    m_rest.remove_prefix(end + 1);
    return text;
  }
  bool shape(Dims& dims) {
    if (!take('(')) return false;
    while (!take(')')) {
      skipSpace();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), extent);
      if (error != std::errc() || extent < 0) return false;
      m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
      if (!m_rest.empty() && m_rest.front() == 'L') m_rest.remove_prefix(1);  // Python 2 wrote 3L
      dims.push_back(extent);
      if (!take(',')) {
        skipSpace();
        if (m_rest.empty() || m_rest.front() != ')') return false;
      }
    }
    return true;
  }

  std::string_view m_rest;
};

struct NpyType {
  std::string_view descr;  ///< without the byte order
  DataType type;
};
constexpr NpyType kTypes[] = {
    {"f8", DataType::F64},  {"f4", DataType::F32}, {"f2", DataType::F16},   {"V2", DataType::BF16},
    {"i8", DataType::I64},  {"i4", DataType::I32}, {"i2", DataType::I16},   {"i1", DataType::I8},
    {"u8", DataType::U64},  {"u4", DataType::U32}, {"u2", DataType::U16},   {"u1", DataType::U8},
    {"b1", DataType::Bool}, {"c8", DataType::C64}, {"c16", DataType::C128}, {"V1", DataType::U8},
};

Diagnostic npyError(std::string message, const std::string& file, const std::string& array, std::string help = {}) {
  return {.message = std::move(message), .where = {.file = file, .value = array}, .help = std::move(help)};
}

Result<DataType> typeOf(const std::string& descr, const std::string& file, const std::string& array) {
  if (descr.size() > 1 && descr.front() == '>' && descr != ">i1" && descr != ">u1" && descr != ">b1") {
    return npyError(fmt::format("the array's type '{}' is big-endian", descr), file, array,
                    "Convert it with array.astype(array.dtype.newbyteorder('<')) before saving.");
  }
  for (const auto& type : kTypes) {
    if (descr.size() > 1 && descr.substr(1) == type.descr) return type.type;
  }
  return npyError(fmt::format("arrays of type '{}' cannot be read", descr), file, array,
                  "Save it as a plain numeric array (b1, i1…i8, u1…u8, f2, f4, f8).");
}

/// Copies elements from column-major to row-major order.
void copyFromFortran(const std::byte* from, std::byte* to, const Dims& dims, std::int64_t count, std::size_t size) {
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  std::vector<std::int64_t> index(dims.size(), 0);
  std::int64_t source = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<std::size_t>(i) * size, from + static_cast<std::size_t>(source) * size, size);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < dims[axis]) break;
      source -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

/// Where the header's text begins and ends.
struct HeaderRange {
  std::size_t begin = 0, end = 0;
};
std::optional<HeaderRange> headerRange(std::span<const std::byte> bytes) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return {};
  const auto byteAt = [&](std::size_t i) { return static_cast<std::size_t>(bytes[i]); };
  const auto version = byteAt(6);
  if (version < 1 || version > 3) return {};
  const std::size_t lengthBytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + lengthBytes) return {};
  std::size_t length = 0;
  for (std::size_t i = 0; i < lengthBytes; ++i) length |= byteAt(8 + i) << (8 * i);
  const std::size_t begin = 8 + lengthBytes;
  if (length > bytes.size() - begin) return {};
  return HeaderRange{begin, begin + length};
}

Diagnostic located(Diagnostic error, const std::string& file, const std::string& array) {
  error.where = {.file = file, .value = array};
  return error;
}

Result<Tensor> parseText(std::span<const std::byte> data, std::size_t width, const Header& header,
                         const std::string& file, const std::string& array) {
  if (header.fortranOrder && header.shape.size() > 1)
    return npyError("text in column-major order cannot be read", file, array, "Save numpy.ascontiguousarray(array).");
  auto tensor = textFromNpy(data, width, header.shape);
  if (!tensor.ok()) return located(std::move(tensor).error(), file, array);
  return tensor;
}

}  // namespace

Result<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string& file, const std::string& array) {
  const auto range = headerRange(bytes);
  if (!range) {
    return npyError("this is not a .npy array, or its header is cut off", file, array,
                    "Write the file again with numpy.savez.");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + range->begin, range->end - range->begin);
  const auto header = HeaderReader(text).read();
  if (!header) return npyError("the array's header cannot be read", file, array, "Save plain arrays, not objects.");
  const auto textWidth = npyTextWidth(header->descr);
  const auto type = textWidth ? DataType::String : TRY(typeOf(header->descr, file, array));
  const auto count = elementCount(header->shape);
  const auto data = bytes.subspan(range->end);
  if (!count || *count > (std::int64_t{1} << 58)) {
    return npyError(fmt::format("the array's extents {} are too large or negative", toText(header->shape)), file,
                    array);
  }
  const auto wanted = byteSize(type, *count);
  const bool isCutOff =
      textWidth ? static_cast<std::size_t>(*count) > data.size() / npyTextBytes(*textWidth) : data.size() < wanted;
  if (isCutOff) {
    return npyError(fmt::format("the array is cut off: {} of type {} need more bytes than the {} that are there",
                                toText(header->shape), header->descr, data.size()),
                    file, array);
  }
  if (textWidth) return parseText(data, *textWidth, *header, file, array);
  auto tensor = Tensor::zeros(type, header->shape);
  if (wanted == 0) return tensor;
  if (header->fortranOrder && header->shape.size() > 1) {
    copyFromFortran(data.data(), tensor.mutableBytes(), header->shape, *count,
                    wanted / static_cast<std::size_t>(*count));
  } else {
    std::memcpy(tensor.mutableBytes(), data.data(), wanted);
  }
  return tensor;
}

Result<NpyPieces> npyPieces(const Tensor& tensor, const std::string& array) {
  if (isStoredAsCodes(tensor.type()) && tensor.hasData()) return npyPieces(codesOf(tensor), array);
  std::string descr;
  for (const auto& type : kTypes) {
    if (type.type != tensor.type() || !descr.empty()) continue;
    const bool orderMatters = type.descr.back() != '1' && type.descr.front() != 'V';
    descr = fmt::format("{}{}", orderMatters || type.descr == "c16" ? '<' : '|', type.descr);
  }
  NpyText text;
  if (tensor.type() == DataType::String && tensor.container() == Container::None) {
    auto made = textToNpy(tensor);
    if (!made.ok()) return located(std::move(made).error(), {}, array);
    text = std::move(made).value();
    descr = text.descr;
  }
  const bool isTensor = tensor.container() == Container::None;
  if (descr.empty() || !tensor.hasData() || !isTensor) {
    const std::string what = isTensor ? "a tensor of type " + std::string(name(tensor.type()))
                                      : containerText(tensor.container(), std::string(name(tensor.type())));
    return npyError(what + " cannot be written to .npy", {}, array);
  }
  std::string shape;
  for (const auto extent : tensor.dims()) shape += fmt::format("{}, ", extent);
  if (tensor.dims().size() > 1) shape.resize(shape.size() - 2);
  if (tensor.dims().size() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');  // the elements begin at a multiple of 64
  header += '\n';
  std::string head(kMagic);
  head += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  head += header;
  head += text.bytes;
  return NpyPieces{std::move(head), tensor.type() == DataType::String ? Tensor() : tensor};
}

Result<std::string> npyBytes(const Tensor& tensor, const std::string& array) {
  NpyPieces pieces = TRY(npyPieces(tensor, array));
  if (pieces.elements.byteSize() > 0)
    pieces.head.append(reinterpret_cast<const char*>(pieces.elements.bytes()), pieces.elements.byteSize());
  return std::move(pieces.head);
}

}  // namespace fusescope
