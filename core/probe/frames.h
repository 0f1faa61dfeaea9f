#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// A message to or from a probe: a JSON object, and the bytes that follow it (PROTOCOL.md).
struct Frame {
  Json header;
  std::string payload{};
};

/// Returns a text of an object; empty if it is missing or not a text.
std::string textOf(const Json& object, const char* key);
/// Returns a non-negative integer of an object; 0 if it is missing or something else.
std::uint64_t countOf(const Json& object, const char* key);

/// Returns the bytes of a frame. Text that is not UTF-8 is repaired.
std::string toBytes(const Json& header, std::string_view payload = {});

/// Splits a stream of bytes into frames. The bytes are not trusted.
class FrameReader {
 public:
  static constexpr std::size_t kMostLine = std::size_t{64} << 20;
  static constexpr std::size_t kMostPiece = std::size_t{1} << 20;

  void feed(std::string_view bytes) { m_held += bytes; }
  /// Returns the next frame if it is complete. Errors: the bytes violate the protocol; nothing is read after that.
  Result<std::optional<Frame>> next();

 private:
  std::string m_held;
  std::size_t m_taken = 0;     ///< bytes of m_held that were read already
  std::size_t m_searched = 0;  ///< bytes from m_taken on in which no line ends
  std::optional<Json> m_header;
};

}  // namespace fusescope
