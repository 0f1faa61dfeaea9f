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
constexpr double kBadgeWidth = 42;  ///< reserved on boxes; a longer badge takes room from the title
constexpr double kBadgePadding = 10;
constexpr double kRadius = 7;
/// The longest time that a box shows beside its extents.
constexpr const char* kWidestTime = "[0.123 ms]";
constexpr double kTimeGap = 8;
constexpr int kTitlePixels = 13, kDetailPixels = 11, kMetaPixels = 10;
constexpr double kLeastPixels = 9;  ///< smaller text on screen is not painted
}  // namespace metrics

QFont titleFont();
QFont detailFont();
QFont metaFont();
QFont badgeFont();
QFont failureFont();
/// Returns the width of a badge with `label`, which is a type or a number and is never shortened; 0 without a label.
double badgeWidth(const QString& label);
/// Returns the words above a box where the displayed run becomes wrong. failureWordsPlace() returns their place, which
/// labels of edges avoid.
QString failureWords();
/// `pixelSize` is the size of the letters.
QRectF failureWordsPlace(const QRectF& box, int pixelSize = metrics::kDetailPixels);

/// Shortens "Conv + Add + Relu" to `width`: to "Conv + Add …" or "Conv …", and if that is too long, by omitting the
/// middle.
QString fittedTitle(const QString& title, const QFont& font, double width);
/// Splits a title that is too wide for one line into two, with room for `first` and `second`. The second line begins
/// with an operator as late as possible, and is shortened if necessary. It is empty if the first line has no room even
/// for one operator.
std::pair<QString, QString> titleInTwoLines(const QString& title, const QFont& font, double first, double second);

/// Measures widths of text without a font database. It is a value that any thread may use; it must be made on the GUI
/// thread.
class TextMeasure {
 public:
  explicit TextMeasure(const QFont& font);
  double width(const QString& text) const;
  /// Returns `text`, with "…" in place of its middle if it is wider than `limit`.
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
