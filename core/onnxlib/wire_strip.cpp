#include "onnxlib/wire_strip.h"

#include "onnxlib/metadata_entry.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace fusescope::onnxlib {
namespace {

constexpr int kMostDepth = 100;  // protobuf's own limit of nesting

/// The messages that may contain a TensorProto; field numbers are those of onnx-ml.proto.
enum class Message { Model, Graph, Function, Node, Attribute, SparseTensor, Tensor };

std::optional<Message> childOf(Message parent, std::uint64_t field) {
  switch (parent) {
    case Message::Model:
      return field == 7 ? std::optional(Message::Graph) : field == 25 ? std::optional(Message::Function) : std::nullopt;
    case Message::Graph:
      if (field == 1) return Message::Node;
      if (field == 5) return Message::Tensor;
      return field == 15 ? std::optional(Message::SparseTensor) : std::nullopt;
    case Message::Function:
      return field == 7 ? std::optional(Message::Node) : field == 11 ? std::optional(Message::Attribute) : std::nullopt;
    case Message::Node:
      return field == 5 ? std::optional(Message::Attribute) : std::nullopt;
    case Message::Attribute:
      if (field == 5 || field == 10) return Message::Tensor;
      if (field == 6 || field == 11) return Message::Graph;
      return field == 22 || field == 23 ? std::optional(Message::SparseTensor) : std::nullopt;
    case Message::SparseTensor:
      return field == 1 || field == 2 ? std::optional(Message::Tensor) : std::nullopt;
    case Message::Tensor:
      return std::nullopt;
  }
  return std::nullopt;
}

constexpr std::uint64_t kRawData = 9;        // field of TensorProto
constexpr std::uint64_t kExternalData = 13;  // field of TensorProto
constexpr std::uint64_t kDataLocation = 14;  // field of TensorProto
enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

void appendVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void appendLengthField(std::string& out, std::uint64_t field, std::string_view content) {
  appendVarint(out, field << 3 | kLength);
  appendVarint(out, content.size());
  out += content;
}

/// One field of a message: where it begins, and its content if it is length-delimited.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t wireType = 0;
  std::span<const std::byte> whole;
  std::span<const std::byte> content;
};

enum class ReadError { Malformed, EndsEarly };

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}
  bool atEnd() const { return m_at == m_bytes.size(); }
  std::size_t position() const { return m_at; }
  ReadError error() const { return m_error; }

  /// Returns nothing at the end or on an error; error() distinguishes them.
  std::optional<Field> next() {
    const std::size_t start = m_at;
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field field{.number = *tag >> 3, .wireType = *tag & 7};
    if (field.number == 0) return fail(ReadError::Malformed);
    std::uint64_t length = 0;
    switch (field.wireType) {
      case kVarint:
        if (!varint()) return std::nullopt;
        break;
      case kFixed64:
        length = 8;
        break;
      case kFixed32:
        length = 4;
        break;
      case kLength: {
        const auto size = varint();
        if (!size) return std::nullopt;
        length = *size;
        break;
      }
      default:
        return fail(ReadError::Malformed);
    }
    if (length > m_bytes.size() - m_at) {
      m_at = start;
      m_lastTag = *tag;
      return fail(ReadError::EndsEarly);
    }
    field.content = m_bytes.subspan(m_at, length);
    m_at += length;
    field.whole = m_bytes.subspan(start, m_at - start);
    return field;
  }
  std::uint64_t lastTag() const { return m_lastTag; }  ///< of the field that ended early

 private:
  std::nullopt_t fail(ReadError error) {
    m_error = error;
    return std::nullopt;
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (m_at == m_bytes.size()) return fail(ReadError::EndsEarly);
      const auto byte = std::to_integer<std::uint64_t>(m_bytes[m_at++]);
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail(ReadError::Malformed);
  }

  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0;
  std::uint64_t m_lastTag = 0;
  ReadError m_error = ReadError::Malformed;
};

/// Returns the wire type that each field of ModelProto must have, or nothing for undefined numbers.
std::optional<std::uint64_t> modelFieldType(std::uint64_t number) {
  switch (number) {
    case 1:
    case 5:
      return kVarint;
    case 2:
    case 3:
    case 4:
    case 6:
    case 7:
    case 8:
    case 14:
    case 20:
    case 25:
    case 26:
      return kLength;
    default:
      return std::nullopt;
  }
}

Diagnostic notOnnx() {
  return {.message = "is not an ONNX model", .help = "Give an .onnx file that an exporter wrote."};
}

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::uint64_t kMetadataOfModel = 14;  // of ModelProto

/// Returns key and value of a StringStringEntryProto, or nothing if it is damaged.
std::optional<std::pair<std::string_view, std::string_view>> keyAndValue(std::span<const std::byte> message) {
  constexpr std::uint64_t kKey = 1, kValue = 2;
  std::string_view key, value;
  FieldReader entry(message);
  while (!entry.atEnd()) {
    const auto part = entry.next();
    if (!part) return std::nullopt;
    if (part->number == kKey && part->wireType == kLength) key = text(part->content);
    if (part->number == kValue && part->wireType == kLength) value = text(part->content);
  }
  return std::pair(key, value);
}

class Stripper {
 public:
  explicit Stripper(std::string_view leftKey) : m_leftKey(leftKey) {}
  std::vector<std::span<const std::byte>> payloads;

  /// Appends `bytes`, a message of kind `message`, to `out` without payloads.
  Status copy(Message message, std::span<const std::byte> bytes, std::string& out, int depth) {
    if (depth > kMostDepth) return Diagnostic{.message = "its subgraphs are nested too deeply"};
    FieldReader reader(bytes);
    std::span<const std::byte> payload;
    while (!reader.atEnd()) {
      const auto field = reader.next();
      if (!field) return Diagnostic{.message = "is damaged, because the length of a part of the model is wrong"};
      if (message == Message::Tensor && field->number == kRawData && field->wireType == kLength &&
          field->content.size() >= kMappedFrom) {
        payload = field->content;
        continue;
      }
      if (message == Message::Model && isLeft(*field)) continue;
      const auto child = field->wireType == kLength ? childOf(message, field->number) : std::nullopt;
      if (!child || field->content.size() < kMappedFrom) {
        out += text(field->whole);
        continue;
      }
      std::string inner;
      TRY(copy(*child, field->content, inner, depth + 1));
      appendLengthField(out, field->number, inner);
    }
    // It is added at the end, because the file may state the place of the data itself, and the last value of a field
    // counts.
    if (!payload.empty()) leaveBehind(payload, out);
    return Done{};
  }

 private:
  bool isLeft(const Field& field) const {
    if (m_leftKey.empty() || field.number != kMetadataOfModel || field.wireType != kLength) return false;
    const auto entry = keyAndValue(field.content);
    return entry && entry->first == m_leftKey;
  }

  void leaveBehind(std::span<const std::byte> payload, std::string& out) {
    std::string entry;
    appendLengthField(entry, 1, kPayloadKey);
    appendLengthField(entry, 2, std::to_string(payloads.size()));
    appendLengthField(out, kExternalData, entry);
    appendVarint(out, kDataLocation << 3 | kVarint);
    appendVarint(out, 1);  // TensorProto::EXTERNAL
    payloads.push_back(payload);
  }

  std::string_view m_leftKey;
};

/// Distinguishes a file that is not an ONNX model from a truncated one.
Status checkOuterFields(std::span<const std::byte> file) {
  FieldReader reader(file);
  bool first = true;
  while (!reader.atEnd()) {
    const auto field = reader.next();
    if (field) {
      const auto expected = modelFieldType(field->number);
      if (expected ? *expected != field->wireType : first) return notOnnx();
      first = false;
      continue;
    }
    const auto cutType = modelFieldType(reader.lastTag() >> 3);
    const bool plausible = !first || (cutType && *cutType == (reader.lastTag() & 7));
    if (reader.error() == ReadError::Malformed || !plausible) return notOnnx();
    return Diagnostic{
        .message = "is truncated: it ends after " + std::to_string(file.size()) + " bytes, in the middle of the model",
        .help = "Copy or download it again."};
  }
  return Done{};
}

}  // namespace

Result<StrippedModel> stripPayloads(std::span<const std::byte> file, std::string_view leftKey) {
  TRY(checkOuterFields(file));
  StrippedModel stripped;
  Stripper stripper(leftKey);
  TRY(stripper.copy(Message::Model, file, stripped.wire, 0));
  stripped.payloads = std::move(stripper.payloads);
  return stripped;
}

/// Returns the value of the last StringStringEntryProto with this key in the fields `number` of a message.
static std::optional<std::string_view> entryIn(std::span<const std::byte> message, std::uint64_t number,
                                               std::string_view key) {
  std::optional<std::string_view> found;
  FieldReader fields(message);
  while (!fields.atEnd()) {
    const auto field = fields.next();
    if (!field) return std::nullopt;
    if (field->number != number || field->wireType != kLength) continue;
    const auto entry = keyAndValue(field->content);
    if (!entry) return std::nullopt;
    if (entry->first == key) found = entry->second;
  }
  return found;
}

std::optional<std::string_view> metadataEntry(std::span<const std::byte> file, std::string_view key) {
  return entryIn(file, kMetadataOfModel, key);
}

std::optional<std::string_view> graphMetadataEntry(std::span<const std::byte> file, std::string_view key) {
  constexpr std::uint64_t kGraph = 7, kMetadataOfGraph = 16;
  FieldReader fields(file);
  while (!fields.atEnd()) {
    const auto field = fields.next();
    if (!field) return std::nullopt;
    if (field->number == kGraph && field->wireType == kLength) return entryIn(field->content, kMetadataOfGraph, key);
  }
  return std::nullopt;
}

}  // namespace fusescope::onnxlib
