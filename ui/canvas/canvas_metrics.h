#pragma once

#include <QFont>
#include <QRectF>
#include <QString>
#include <array>
#include <utility>

namespace fusescope {

/// Sizes on the canvas at zoom 1, shared by the builder and the painter.
namespace metrics {
constexpr double kBoxPaddingX = 12;
constexpr double kStripe = 4;
constexpr double kBoxHeight = 60;
constexpr double kPillHeight = 40;
constexpr double kStubRow = 18, kStubPadding = 12, kStubGap = 6;
constexpr double kLeastBox = 132, kWidestBox = 290;
constexpr double kSegmentHeader = 38, kFusedHeader = 48;
constexpr double kPadding = 18;
constexpr double kBadgeWidth = 42;  ///< boxes have room for; a longer badge takes it from the title
constexpr double kBadgePadding = 10;
constexpr double kRadius = 7;
/// The widest time that a box shows beside its extents.
constexpr const char* kWidestTime = "[0.123 ms]";
constexpr double kTimeGap = 8;
constexpr int kTitlePixels = 13, kDetailPixels = 11, kMetaPixels = 10;
constexpr double kLeastPixels = 9;  ///< text that is smaller on screen is not painted
}  // namespace metrics

QFont titleFont();
QFont detailFont();
QFont metaFont();
QFont badgeFont();
QFont failureFont();
/// Of a badge with `label`, which is never cut: what it says is a type or a number. 0 for none.
double badgeWidth(const QString& label);
/// What stands above a box where the shown run goes wrong, and where: no edge's label lies on it.
QString failureWords();
/// `pixelSize`: of its letters.
QRectF failureWordsPlace(const QRectF& box, int pixelSize = metrics::kDetailPixels);

/// "Conv + Add + Relu" in `width`: "Conv + Add …", where there must be less "Conv …", at the worst with its middle left
/// out.
QString fittedTitle(const QString& title, const QFont& font, double width);
/// A title that is wider than one line in two, which have room for `first` and `second`: the second begins with as late
/// an operator as may be, and is fitted. The second is empty where not even the first operator has room in the first.
std::pair<QString, QString> titleInTwoLines(const QString& title, const QFont& font, double first, double second);

/// Widths of text without a font database: a value that any thread may use. Made on the GUI thread.
class TextMeasure {
 public:
  explicit TextMeasure(const QFont& font);
  double width(const QString& text) const;
  /// `text`, with "…" for its middle if it is wider than `limit`.
  QString elided(const QString& text, double limit) const;

 private:
  double of(QChar c) const { return c.unicode() < m_ascii.size() ? m_ascii[c.unicode()] : m_other; }
  std::array<double, 128> m_ascii{};
  double m_other = 0;
};

struct CanvasFonts {
  TextMeasure title{titleFont()}, detail{detailFont()}, meta{metaFont()};
};

}  // namespace fusescope
