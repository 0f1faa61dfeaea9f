#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// What is sent to a probe or comes from one: an object, and the bytes that follow it. PROTOCOL.md.
struct Frame {
  Json header;
  std::string payload{};
};

/// A text of an object; empty where it is missing or no text.
std::string textOf(const Json& object, const char* key);
/// A whole number of an object that is not negative; 0 where it is missing or something else.
std::uint64_t countOf(const Json& object, const char* key);

/// The bytes of a frame. Text that is no UTF-8 is made so.
std::string toBytes(const Json& header, std::string_view payload = {});

/// Parts what comes in pieces of any size into frames. What comes is not trusted.
class FrameReader {
 public:
  static constexpr std::size_t kMostLine = std::size_t{64} << 20;
  static constexpr std::size_t kMostPiece = std::size_t{1} << 20;

  void feed(std::string_view bytes) { m_held += bytes; }
  /// The next frame, if all of it is there. Errors: this is not the protocol; nothing is read any more then.
  Result<std::optional<Frame>> next();

 private:
  std::string m_held;
  std::size_t m_taken = 0;     ///< bytes of m_held that were read
  std::size_t m_searched = 0;  ///< from m_taken on: no line ends in these
  std::optional<Json> m_header;
};

}  // namespace fusescope
