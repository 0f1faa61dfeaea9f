#include "base/quantities.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/text.h"

namespace fusescope {
namespace {

constexpr const char* kMinus = "−";

struct UnitOfTime {
  const char* name;
  double ms;  ///< that one of it takes
};
/// Each unit is used for times of at least a tenth of it.
constexpr UnitOfTime kShorterUnits[] = {{"ms", 1}, {"µs", 1e-3}, {"ns", 1e-6}};
constexpr double kFirstSeconds = 1000;

UnitOfTime unitOfTime(double ms) {
  if (ms >= kFirstSeconds) return {"s", 1000};
  for (const UnitOfTime& unit : kShorterUnits)
    if (ms >= unit.ms / 10) return unit;
  return *std::rbegin(kShorterUnits);
}

/// Formats a number of 0.1 or more.
std::string inThreeDigits(double number) {
  int digits = 3;
  for (double next = 0.9995; digits > 0 && number >= next; next *= 10) --digits;
  return fmt::format("{:.{}f}", number, digits);
}

}  // namespace

std::string inBytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = std::abs(static_cast<double>(bytes));
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{}{} {}", bytes < 0 ? kMinus : "", unit == 0 ? fmt::format("{:.0f}", size) : inThreeDigits(size),
                     kUnits[unit]);
}

std::string inTime(double ms) {
  if (ms == 0) return "0 ms";
  const double size = std::abs(ms);
  const UnitOfTime unit = unitOfTime(size);
  return fmt::format("{}{} {}", ms < 0 ? kMinus : "", inThreeDigits(size / unit.ms), unit.name);
}

std::string inTimeDifference(double ms) {
  return (ms > 0 ? "+" : "") + inTime(ms);
}

std::string inThousands(std::int64_t count) {
  std::string text = fmt::format("{}", std::abs(count));
  for (std::size_t place = text.size(); place > 3;) text.insert(place -= 3, ",");
  return (count < 0 ? kMinus : "") + text;
}

std::string inCountDifference(std::int64_t more, std::string_view one) {
  if (more == 0) return fmt::format("no {} more", one);
  return counted(std::abs(more), one) + (more > 0 ? " more" : " fewer");
}

std::string inBytesDifference(std::int64_t more) {
  if (more == 0) return "no byte more";
  return inBytes(std::abs(more)) + (more > 0 ? " more" : " less");
}

}  // namespace fusescope
