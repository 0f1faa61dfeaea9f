#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope::mutation {

/// A field of a protobuf message as it stands in a file.
struct WireField {
  enum Type : std::uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  std::uint32_t number = 0;
  Type type = Varint;
  std::uint64_t scalar = 0;  ///< of a varint or a fixed number
  std::string bytes;         ///< of text, bytes, a nested message or packed numbers
};

/// A protobuf message without its schema: what a mutator needs to write files that no library would. Nested messages
/// stay bytes until they are parsed themselves.
struct WireMessage {
  std::vector<WireField> fields;

  /// Nothing if the bytes are no message.
  static std::optional<WireMessage> parse(std::string_view bytes);
  std::string serialised() const;
  /// Indices of the fields of this number.
  std::vector<std::size_t> all(std::uint32_t number) const;
  /// The text of the first such field, or nothing.
  std::string text(std::uint32_t number) const;
};

WireField varintField(std::uint32_t number, std::uint64_t value);
WireField bytesField(std::uint32_t number, std::string bytes);

}  // namespace fusescope::mutation
