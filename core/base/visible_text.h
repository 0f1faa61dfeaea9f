#pragma once

#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope {

/// `text` in which control characters are readable, as JSON writes them: "\u001b", "\n". A terminal acts on none of it.
std::string visibleText(std::string_view text);

/// Hands what is written on to another buffer, in which control characters are readable as visibleText() has them, but
/// for the ends of lines, tabs, and what `asIs` lists: sequences that the program itself writes. Not thread-safe.
class VisibleBuffer : public std::streambuf {
 public:
  /// `to` must outlive it. Each of `asIs` begins with a control character.
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
