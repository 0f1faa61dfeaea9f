#include "ui/ribbon/ribbon_row.h"

#include <algorithm>

namespace fusescope {

namespace {

constexpr std::size_t kBarsOfStep = 128;

}  // namespace

RibbonRow::RibbonRow(Kind kind, std::size_t of, std::vector<RibbonBar> bars)
    : m_kind(kind), m_of(of), m_bars(std::move(bars)), m_widest((m_bars.size() + kBarsOfStep - 1) / kBarsOfStep, 0) {
  for (std::size_t i = 0; i < m_bars.size(); ++i)
    m_widest[i / kBarsOfStep] = std::max(m_widest[i / kBarsOfStep], m_bars[i].width());
}

std::size_t RibbonRow::firstBehind(double place) const {
  const auto found = std::ranges::upper_bound(m_bars, place, {}, &RibbonBar::end);
  return static_cast<std::size_t>(found - m_bars.begin());
}

int RibbonRow::barAt(double place) const {
  const std::size_t i = firstBehind(place);
  return i < m_bars.size() && m_bars[i].begin <= place ? static_cast<int>(i) : -1;
}

std::size_t RibbonRow::nextWide(std::size_t i, double least) const {
  while (i < m_bars.size()) {
    if (i % kBarsOfStep == 0 && m_widest[i / kBarsOfStep] < least) {
      i += kBarsOfStep;
      continue;
    }
    if (m_bars[i].width() >= least) return i;
    ++i;
  }
  return m_bars.size();
}

std::vector<BarStretch> RibbonRow::stretches(double from, double to, double least, const RibbonRow* above) const {
  std::vector<BarStretch> found;
  std::size_t i = firstBehind(from);
  while (i < m_bars.size() && m_bars[i].begin < to) {
    if (m_bars[i].width() >= least) {
      found.push_back(
          {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1), m_bars[i].begin, m_bars[i].end, true});
      ++i;
      continue;
    }
    std::size_t end = nextWide(i, least);
    if (above != nullptr) {
      const double middle = (m_bars[i].begin + m_bars[i].end) / 2;
      const std::vector<RibbonBar>& over = above->bars();
      const std::size_t near = above->firstBehind(middle), wide = above->nextWide(near, least);
      const bool isUnder = wide < over.size() && over[wide].begin <= middle;
      const double border = wide == over.size() ? to : isUnder ? over[wide].end : over[wide].begin;
      const auto inside = std::ranges::upper_bound(m_bars.begin() + static_cast<std::ptrdiff_t>(i),
                                                   m_bars.begin() + static_cast<std::ptrdiff_t>(end), border, {},
                                                   [](const RibbonBar& bar) { return (bar.begin + bar.end) / 2; });
      end = std::max(i + 1, static_cast<std::size_t>(inside - m_bars.begin()));
    }
    found.push_back(
        {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end), m_bars[i].begin, m_bars[end - 1].end, false});
    i = end;
  }
  return found;
}

}  // namespace fusescope
