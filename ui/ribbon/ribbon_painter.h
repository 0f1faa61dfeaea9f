#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/ribbon/ribbon_bands.h"

namespace fusescope {

/// A bar of a row above the lanes, or of a lane.
struct RibbonSpot {
  bool above = false;
  std::size_t row = 0;  ///< index in RibbonLayout::above or ::lanes
  std::uint32_t bar = 0;
  bool operator==(const RibbonSpot&) const = default;
};

/// The progress of work on the network.
struct RibbonProgress {
  QString words;                     ///< "measuring kernels: 12 of 38"; empty: nothing is running
  std::optional<double> reached;     ///< position on the axis; nothing: the work reports no position
  double begin = 0;                  ///< where the part that it is working on begins
  std::vector<RibbonRange> tried{};  ///< parts of the axis whose kernels are pinned in the set that a search is trying
};

/// Everything that can change between two paintings of one picture.
struct RibbonLook {
  const Theme* theme = nullptr;
  std::vector<std::vector<QRgb>> colors;             ///< for each lane and kernel
  std::vector<std::vector<std::uint32_t>> selected;  ///< for each lane, bars in ascending order
  std::vector<RibbonRange> inView;                   ///< the parts that the canvas shows
  std::optional<std::uint32_t> failing;              ///< the bar of the last lane where the displayed run first becomes
                                                     ///< wrong
  std::optional<RibbonSpot> hovered, current;
  bool focus = false;
  RibbonRange brush;  ///< the range of a drag; empty: none
  RibbonProgress progress;
};

/// Paints the part of the ribbon in `scale`'s range; the time depends only on what is visible.
class RibbonPainter {
 public:
  RibbonPainter(QPainter& painter, const RibbonPicture& picture, const RibbonLook& look, const RibbonScale& scale,
                std::vector<RibbonBand> bands);
  void paint();

 private:
  void progress(const RibbonBand& band);
  void rowAbove(const RibbonBand& band);
  void lane(const RibbonBand& band);
  void errors(const RibbonBand& band);
  void differences(const RibbonBand& band);
  void deltas(const RibbonBand& band);
  void inView(const RibbonBand& band);
  void brush();

  void kernel(const RibbonBand& band, const RibbonBar& bar);
  void gathered(const RibbonBand& band, const BarStretch& stretch);
  void marks(const RibbonBand& band);
  void frame(const RibbonBand& band, const RibbonBar& bar, const QColor& color);
  void bracket(const RibbonBand& band, const QRectF& mark);
  /// Paints the first of `labels` that fits, or none.
  void label(const QRectF& rect, const QStringList& labels, const QColor& color);
  QRectF rectOf(const RibbonBand& band, double begin, double end) const;
  QColor fillOf(std::size_t lane, std::size_t kernel) const;
  /// Returns the innermost row of blocks that is shown above the lanes; null if there is none.
  const RibbonRow* innermost() const;

  QPainter& m_painter;
  const RibbonPicture& m_picture;
  const RibbonLook& m_look;
  const Theme& m_theme;
  RibbonScale m_scale;
  std::vector<RibbonBand> m_bands;
  QFont m_text, m_label;
};

}  // namespace fusescope
