#include "backends/tactic.h"

#include <tuple>

#include "base/text.h"

namespace fusescope {

std::string Numerics::text() const {
  std::vector<std::string> words;
  if (flushes) words.emplace_back("flushes");
  if (saturates) words.emplace_back("saturates");
  if (fastMath) words.emplace_back("fast_math");
  if (emulated) words.emplace_back("emulated");
  return words.empty() ? "exact" : joined(words, "+");
}

bool Tactic::operator==(const Tactic& other) const {
  const auto fields = [](const Tactic& t) {
    return std::tie(t.backend, t.implementation, t.parameters, t.inputs, t.outputs, t.numerics);
  };
  return fields(*this) == fields(other);
}

bool Tactic::isCalled(const std::string& text) const {
  if (text == name) return true;
  std::string former = name;
  const auto replace = [&](const MemoryFormat& format) {
    if (format.isPlain()) return;
    const std::string now = format.text();
    for (std::size_t at = former.find(now); at != std::string::npos; at = former.find(now, at + 1))
      former.replace(at, now.size(), formerWord(format));
  };
  for (const MemoryFormat& format : inputs) replace(format);
  for (const auto& [name, parameter] : parameters)
    if (const auto* format = std::get_if<MemoryFormat>(&parameter)) replace(*format);
  return text == former;
}

}  // namespace fusescope
