#include "tuning/culprits.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace fusescope {
namespace {

SwitchSet joinedSets(const SwitchSet& a, std::span<const std::uint32_t> b) {
  SwitchSet both = a;
  both.insert(both.end(), b.begin(), b.end());
  std::ranges::sort(both);
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return both;
}

class CulpritSearch {
 public:
  CulpritSearch(std::uint32_t switches, const ErrorWithout& errorWithout, const CulpritOptions& options)
      : m_all(switches), m_errorWithout(errorWithout), m_options(options) {
    std::iota(m_all.begin(), m_all.end(), 0U);
  }

  Result<Culprits> run() {
    Culprits found;
    if (!TRY(isRight({}))) {
      if (!m_isOver && TRY(isRight(m_all))) m_known = m_all;
      if (!m_isOver && m_known) found.off = TRY(smallest({}, false, m_all));
      if (!m_isOver && m_known) TRY(settle(found));
    }
    found.builds = m_builds;
    found.before = errorOf({});
    found.end = endOf(found);
    if (found.end == CulpritEnd::OutOfBudget) found.off = m_known.value_or(m_all);
    if (found.end != CulpritEnd::NotWrong)
      found.after = errorOf(found.end == CulpritEnd::NoCulprit ? m_all : found.off);
    return found;
  }

 private:
  CulpritEnd endOf(const Culprits& found) const {
    if (m_isOver) return CulpritEnd::OutOfBudget;
    if (!m_known) return errorOf({}) <= m_options.tolerance ? CulpritEnd::NotWrong : CulpritEnd::NoCulprit;
    return found.off.empty() ? CulpritEnd::NotWrong : CulpritEnd::Found;
  }

  /// Returns NaN for a set that was not tried.
  double errorOf(const SwitchSet& off) const {
    const auto known = m_errors.find(off);
    return known == m_errors.end() ? std::numeric_limits<double>::quiet_NaN() : known->second;
  }

  /// Returns whether the network is right without these switches, or false if nothing may be tried any more.
  Result<bool> isRight(const SwitchSet& off) {
    if (const auto known = m_errors.find(off); known != m_errors.end()) return known->second <= m_options.tolerance;
    if (m_options.stop.stop_requested() || (m_options.builds > 0 && m_builds >= m_options.builds)) m_isOver = true;
    if (m_isOver) return false;
    ++m_builds;
    auto error = m_errorWithout(off);
    if (!error.ok() && error.error().cancelled) {
      m_isOver = true;
      return false;
    }
    const double value = TRY(std::move(error));
    m_errors.emplace(off, value);
    const bool right = value <= m_options.tolerance;
    if (right && m_known && off.size() < m_known->size()) m_known = off;
    return right;
  }

  /// Returns which of `open` must be off besides `off`. `isNew` is true if `off` has grown since it was last found
  /// wrong.
  Result<SwitchSet> smallest(const SwitchSet& off, bool isNew, std::span<const std::uint32_t> open) {
    if (m_isOver || (isNew && TRY(isRight(off)))) return SwitchSet();
    if (open.size() == 1) return SwitchSet(open.begin(), open.end());
    const auto first = open.first(open.size() / 2), second = open.subspan(open.size() / 2);
    const SwitchSet ofSecond = TRY(smallest(joinedSets(off, first), true, second));
    const SwitchSet ofFirst = TRY(smallest(joinedSets(off, ofSecond), !ofSecond.empty(), first));
    return joinedSets(ofFirst, ofSecond);
  }

  /// Ensures that the set is sufficient and that no switch can be left out; otherwise continues from what is
  /// sufficient.
  Status settle(Culprits& found) {
    if (!TRY(isRight(found.off)) && !m_isOver) found.off = *m_known;
    found.minimal = true;
    for (std::size_t i = 0; i < found.off.size() && !m_isOver;) {
      SwitchSet fewer = found.off;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (TRY(isRight(fewer))) {
        found.off = std::move(fewer);
      } else {
        ++i;
      }
    }
    found.minimal = !m_isOver;
    return Done{};
  }

  SwitchSet m_all;
  const ErrorWithout& m_errorWithout;
  const CulpritOptions& m_options;
  std::map<SwitchSet, double> m_errors;
  std::optional<SwitchSet> m_known;  ///< the smallest set that is known to be sufficient
  std::int64_t m_builds = 0;
  bool m_isOver = false;
};

}  // namespace

std::string_view name(CulpritEnd end) {
  switch (end) {
    case CulpritEnd::Found:
      return "found";
    case CulpritEnd::NotWrong:
      return "not_wrong";
    case CulpritEnd::NoCulprit:
      return "no_culprit";
    case CulpritEnd::OutOfBudget:
      return "out_of_budget";
  }
  return {};
}

Result<Culprits> findCulprits(std::uint32_t switches, const ErrorWithout& errorWithout, const CulpritOptions& options) {
  return CulpritSearch(switches, errorWithout, options).run();
}

}  // namespace fusescope
