#pragma once

#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope {

/// Returns `text` with control characters escaped as in JSON ("\u001b", "\n"), so that a terminal does not act on them.
std::string visibleText(std::string_view text);

/// A stream buffer that passes what is written to it on to another buffer, with control characters escaped as in
/// visibleText(). Line ends, tabs, and the sequences in `asIs`, which the program itself writes, are passed unchanged.
/// Not thread-safe.
class VisibleBuffer : public std::streambuf {
 public:
  /// `to` must outlive this buffer. Each element of `asIs` begins with a control character.
  VisibleBuffer(std::streambuf& to, std::vector<std::string_view> asIs) : m_to(to), m_asIs(std::move(asIs)) {}

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override { return m_to.pubsync(); }

 private:
  bool put(std::string_view text);

  std::streambuf& m_to;
  std::vector<std::string_view> m_asIs;
};

}  // namespace fusescope
