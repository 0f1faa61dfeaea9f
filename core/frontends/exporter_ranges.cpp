#include "frontends/exporter_ranges.h"

#include <charconv>
#include <cstdint>

#include "base/trimmed.h"

namespace fusescope {
namespace {

constexpr std::string_view kRange = ": VR[";
constexpr std::string_view kEndless = "int_oo";
constexpr std::string_view kBottomless = "-int_oo";  ///< of a number that is no extent
/// Before 2.5, PyTorch wrote its largest integer, or one less, if there is no bound.
constexpr std::int64_t kAsGoodAsEndless = std::int64_t{1} << 62;

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<ExporterRanges> exporterRangesFromText(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  ExporterRanges ranges;
  while (!text.empty()) {
    const std::size_t mark = text.find(kRange), end = text.find(']', mark == text.npos ? text.size() : mark);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string name(trimmed(text.substr(0, mark)));
    const std::string_view bounds = text.substr(mark + kRange.size(), end - mark - kRange.size());
    const std::size_t comma = bounds.find(',');
    if (comma == std::string_view::npos || name.empty()) return std::nullopt;
    const std::string_view first = trimmed(bounds.substr(0, comma)), last = trimmed(bounds.substr(comma + 1));
    const auto least = first == kBottomless ? std::optional(INT64_MIN) : wholeNumber(first);
    const auto most = wholeNumber(last);
    if (!least || (!most && last != kEndless) || (most && *most < *least)) return std::nullopt;
    if (first != kBottomless)
      ranges[name] = {.least = *least, .most = most && *most < kAsGoodAsEndless ? most : std::nullopt};
    text = trimmed(text.substr(end + 1));
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text = trimmed(text.substr(1));
  }
  return ranges;
}

std::string exporterRangesText(const ExporterRanges& ranges) {
  std::string text;
  for (const auto& [symbol, range] : ranges)
    text += (text.empty() ? "" : ", ") + symbol + std::string(kRange) + std::to_string(range.least) + ", " +
            (range.most ? std::to_string(*range.most) : std::string(kEndless)) + "]";
  return "{" + text + "}";
}

ExporterRanges rangesOfSymbols(const ExporterRanges& ranges, const std::set<std::string>& symbols) {
  if (ranges.size() == 1 && symbols.size() == 1) return {{*symbols.begin(), ranges.begin()->second}};
  ExporterRanges known;
  for (const auto& [symbol, range] : ranges)
    if (symbols.contains(symbol)) known.emplace(symbol, range);
  return known;
}

}  // namespace fusescope
