#include "ir/extent_ranges.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "base/trimmed.h"

namespace fusescope {
namespace {

constexpr std::string_view kBetween = "..";

Diagnostic noRange(std::string_view text) {
  return {.message = "'" + std::string(text) + "' is neither an extent nor a range of extents",
          .help = "An extent is a number, or MIN..OPT..MAX, or MIN..MAX: 1..8..32,3,224,224."};
}

Result<std::int64_t> extentIn(std::string_view text, std::string_view whole) {
  std::int64_t extent = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), extent);
  const bool isExtent = read.ec == std::errc() && read.ptr == text.data() + text.size() && extent >= 0;
  return isExtent ? Result<std::int64_t>(extent) : noRange(whole);
}

Result<ExtentRange> rangeIn(std::string_view text) {
  std::vector<std::int64_t> numbers;
  std::string_view rest = trimmed(text);
  for (std::size_t at = rest.find(kBetween); at != rest.npos; at = rest.find(kBetween)) {
    numbers.push_back(TRY(extentIn(rest.substr(0, at), text)));
    rest.remove_prefix(at + kBetween.size());
  }
  numbers.push_back(TRY(extentIn(rest, text)));
  if (numbers.size() > 3 || !std::ranges::is_sorted(numbers)) return noRange(text);
  ExtentRange range{.min = numbers.front(), .opt = {}, .max = numbers.back()};
  if (numbers.size() != 2) range.opt = numbers[numbers.size() / 2];
  return range;
}

}  // namespace

Result<std::vector<ExtentRange>> parseExtentRanges(std::string_view text) {
  std::vector<ExtentRange> ranges;
  text = trimmed(text);
  if (text.empty() || text == "scalar") return ranges;
  std::string plain(text);
  std::ranges::replace(plain, ',', 'x');
  for (const std::string& part : split(plain, 'x')) ranges.push_back(TRY(rangeIn(part)));
  return ranges;
}

std::string extentRangesText(const InputSpec& spec) {
  std::string text;
  for (std::size_t axis = 0; axis < spec.opt.size(); ++axis) {
    text += text.empty() ? "" : ",";
    text += std::to_string(spec.min[axis]);
    if (spec.min[axis] == spec.max[axis]) continue;
    text +=
        std::string(kBetween) + std::to_string(spec.opt[axis]) + std::string(kBetween) + std::to_string(spec.max[axis]);
  }
  return text;
}

}  // namespace fusescope
