#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/ribbon/ribbon_bands.h"

namespace fusescope {

/// One bar: of a row above, or of a lane.
struct RibbonSpot {
  bool above = false;
  std::size_t row = 0;  ///< of RibbonLayout::above or ::lanes
  std::uint32_t bar = 0;
  bool operator==(const RibbonSpot&) const = default;
};

/// How far work on the network is.
struct RibbonProgress {
  QString words;                     ///< "measuring kernels: 12 of 38"; empty: nothing is under way
  std::optional<double> reached;     ///< on the axis; none: the work does not tell a place
  double begin = 0;                  ///< where the part that it is at begins
  std::vector<RibbonRange> tried{};  ///< parts of the axis whose kernels are pinned in the set that a search tries
};

/// All that changes between two paintings of one picture.
struct RibbonLook {
  const Theme* theme = nullptr;
  std::vector<std::vector<QRgb>> colors;             ///< by lane and kernel
  std::vector<std::vector<std::uint32_t>> selected;  ///< by lane: bars, ascending
  std::vector<RibbonRange> inView;                   ///< parts that the canvas sees
  std::optional<std::uint32_t> failing;              ///< bar of the last lane where the shown run first goes wrong
  std::optional<RibbonSpot> hovered, current;
  bool focus = false;
  RibbonRange brush;  ///< what is being dragged over; empty: nothing
  RibbonProgress progress;
};

/// Paints what of the ribbon is in `scale`'s range: its cost is that of what is on screen.
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
  /// The first of `labels` that fits; nothing where none does.
  void label(const QRectF& rect, const QStringList& labels, const QColor& color);
  QRectF rectOf(const RibbonBand& band, double begin, double end) const;
  QColor fillOf(std::size_t lane, std::size_t kernel) const;
  /// The row of blocks above the lanes that is shown, the innermost; null: none is.
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
