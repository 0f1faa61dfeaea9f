#include "verify/element_bounds.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

constexpr double kUlps = 2;

/// Floats may differ by this many times the spread of the disturbed runs, because these are few and not extreme.
constexpr double kOfSpread = 2;

}  // namespace

double rmsOf(const Tensor& tensor) {
  double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.asDouble(i);
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

ElementBounds::ElementBounds(const Tensor& expected)
    : m_expected(expected),
      m_isFloat(isFloat(expected.type())),
      m_units(expected.type()),
      m_range(rangeOf(expected.type())),
      m_rms(rmsOf(expected)) {}

void ElementBounds::include(const Tensor& disturbed) {
  const std::int64_t count = m_expected.count();
  if (m_spans.empty()) {
    std::vector<Span> spans;
    for (std::int64_t i = 0; i < count; ++i) spans.push_back(spanOf(i));
    m_spans = std::move(spans);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    Span& span = m_spans[static_cast<std::size_t>(i)];
    const double value = disturbed.asDouble(i);
    if (std::isnan(value)) {
      span.canBeNaN = true;
      continue;
    }
    span.least = std::min(span.least, value);
    span.most = std::max(span.most, value);
  }
}

ElementBounds::Span ElementBounds::spanOf(std::int64_t i) const {
  if (!m_spans.empty()) return m_spans[static_cast<std::size_t>(i)];
  const double value = expected(i);
  if (std::isnan(value)) return {INFINITY, -INFINITY, true};
  return {value, value, false};
}

double ElementBounds::clamped(double value) const {
  return m_range ? std::clamp(value, m_range->least, m_range->most) : value;
}

bool ElementBounds::holds(std::int64_t i, double actual) const {
  const Span span = spanOf(i);
  if (std::isnan(actual)) return span.canBeNaN;
  if (actual >= span.least && actual <= span.most) return true;
  if (!m_isFloat || span.least > span.most) return false;
  const double middle = expected(i);
  // Close to the end of the range, one rounding more or less makes an infinity.
  double least = clamped(span.least), most = clamped(span.most);
  const double a = clamped(actual);
  if (std::isfinite(middle)) {
    least = middle - kOfSpread * (middle - least);
    most = middle + kOfSpread * (most - middle);
  }
  return isNear(a, std::clamp(a, least, most));
}

bool ElementBounds::heldAtFirst(std::int64_t i, double actual) const {
  const double value = expected(i);
  if (std::isnan(actual) || std::isnan(value)) return std::isnan(actual) && std::isnan(value);
  return actual == value || (m_isFloat && isNear(clamped(actual), clamped(value)));
}

bool ElementBounds::isNear(double actual, double nearest) const {
  const double allowed = kOfSum * (m_rms + std::fabs(nearest));
  const double off = std::fabs(actual - nearest);
  return off <= allowed || m_units.of(off - allowed, nearest) <= kUlps;
}

double ElementBounds::overRms(std::int64_t i, double actual) const {
  const double off = std::fabs(actual - expected(i));
  if (!std::isfinite(off) || off == 0) return 0;
  return m_rms > 0 ? off / m_rms : INFINITY;
}

}  // namespace fusescope
