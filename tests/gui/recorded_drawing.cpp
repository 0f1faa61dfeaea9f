#include "tests/gui/recorded_drawing.h"

#include <QFile>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <QSize>
#include <QtMath>

#include "ui/theme/theme.h"

namespace fusescope::test {
namespace {

const QString kFolder = QStringLiteral(FUSESCOPE_SOURCE_DIR "/tests/gui/pictures/");
constexpr int kPixelsPerInch = 96;

QString numbers(std::initializer_list<double> values) {
  QStringList words;
  for (const double value : values) words << QString::number(qRound(value));
  return words.join(' ');
}

QString words(const QColor& color) {
  return color.alpha() == 0 ? QStringLiteral("none") : color.name(QColor::HexArgb).mid(1);
}

/// Writes a line for each thing that it is told to draw.
class RecordingEngine : public QPaintEngine {
 public:
  RecordingEngine() : QPaintEngine(AllFeatures) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  Type type() const override { return User; }
  void updateState(const QPaintEngineState& state) override {
    const DirtyFlags dirty = state.state();
    if (dirty & DirtyTransform) m_transform = state.transform();
    if (dirty & DirtyPen) m_pen = state.pen();
    if (dirty & DirtyBrush) m_brush = state.brush();
    if (dirty & DirtyOpacity) m_opacity = state.opacity();
  }
  void drawPath(const QPainterPath& path) override { add(QStringLiteral("path"), path.boundingRect(), true); }
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
    QPolygonF polygon;
    for (int i = 0; i < count; ++i) polygon << points[i];
    add(mode == PolylineMode ? QStringLiteral("line") : QStringLiteral("polygon"), polygon.boundingRect(),
        mode != PolylineMode);
  }
  void drawRects(const QRectF* rects, int count) override {
    for (int i = 0; i < count; ++i) add(QStringLiteral("rectangle"), rects[i], true);
  }
  void drawLines(const QLineF* drawn, int count) override {
    for (int i = 0; i < count; ++i)
      add(QStringLiteral("line"), QRectF(drawn[i].p1(), drawn[i].p2()).normalized(), false);
  }
  void drawEllipse(const QRectF& rect) override { add(QStringLiteral("ellipse"), rect, true); }
  void drawPixmap(const QRectF& rect, const QPixmap&, const QRectF&) override {
    add(QStringLiteral("pixmap"), rect, false);
  }
  void drawImage(const QRectF& rect, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {
    add(QStringLiteral("image"), rect, false);
  }
  void drawTextItem(const QPointF& place, const QTextItem& item) override {
    const QPointF at = m_transform.map(place);
    lines << QStringLiteral("text \"%1\" at %2 size %3 %4%5")
                 .arg(item.text(), numbers({at.x(), at.y()}), numbers({item.font().pixelSize() * m_transform.m22()}),
                      seen(m_pen.color()), item.font().weight() > QFont::Normal ? QStringLiteral(" bold") : QString());
  }
  QStringList lines;

 private:
  QString seen(QColor color) const {
    color.setAlphaF(color.alphaF() * m_opacity);
    return words(color);
  }
  void add(const QString& what, const QRectF& where, bool filled) {
    const QRectF rect = m_transform.mapRect(where);
    QString line = QStringLiteral("%1 %2").arg(what, numbers({rect.x(), rect.y(), rect.width(), rect.height()}));
    if (filled && m_brush.style() != Qt::NoBrush) line += QStringLiteral(" filled ") + seen(m_brush.color());
    if (m_pen.style() != Qt::NoPen)
      line += QStringLiteral(" drawn %1 wide %2%3")
                  .arg(seen(m_pen.color()), QString::number(m_pen.widthF(), 'g', 3),
                       m_pen.style() == Qt::SolidLine ? QString() : QStringLiteral(" dashed"));
    lines << line;
  }

  QTransform m_transform;
  QPen m_pen;
  QBrush m_brush;
  double m_opacity = 1;
};

class RecordingDevice : public QPaintDevice {
 public:
  explicit RecordingDevice(const QSize& size) : m_size(size) {}
  QPaintEngine* paintEngine() const override { return &m_engine; }
  QStringList lines() const { return m_engine.lines; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
        return m_size.width();
      case PdmHeight:
        return m_size.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return kPixelsPerInch;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return int(devicePixelRatioFScale());
      case PdmDepth:
        return 32;
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  QSize m_size;
  mutable RecordingEngine m_engine;
};

/// The same words, and numbers that are at most one apart.
bool alike(const QString& a, const QString& b) {
  static const QRegularExpression kNumber(QStringLiteral("^-?\\d+$"));
  const int endOfA = a.lastIndexOf('"') + 1, endOfB = b.lastIndexOf('"') + 1;
  if (a.left(endOfA) != b.left(endOfB)) return false;  // what stands in quotes is text
  const QStringList wordsOfA = a.mid(endOfA).split(' '), wordsOfB = b.mid(endOfB).split(' ');
  if (wordsOfA.size() != wordsOfB.size()) return false;
  for (int i = 0; i < wordsOfA.size(); ++i) {
    if (wordsOfA[i] == wordsOfB[i]) continue;
    if (!kNumber.match(wordsOfA[i]).hasMatch() || !kNumber.match(wordsOfB[i]).hasMatch()) return false;
    if (std::abs(wordsOfA[i].toInt() - wordsOfB[i].toInt()) > 1) return false;
  }
  return true;
}

}  // namespace

QStringList recordedDrawing(const QSize& size, const std::function<void(QPainter&)>& paint) {
  RecordingDevice device(size);
  QPainter painter(&device);
  paint(painter);
  painter.end();
  return device.lines();
}

QString differenceFromKept(const QString& name, const QStringList& lines) {
  QFile file(kFolder + name + QStringLiteral(".txt"));
  if (qEnvironmentVariableIsSet("FUSESCOPE_KEEP_PICTURES")) {
    if (!file.open(QFile::WriteOnly)) return file.fileName() + QStringLiteral(" cannot be written");
    file.write((lines.join('\n') + '\n').toUtf8());
    return {};
  }
  if (!file.open(QFile::ReadOnly)) return file.fileName() + QStringLiteral(" cannot be read");
  const QStringList kept = QString::fromUtf8(file.readAll()).trimmed().split('\n');
  for (int i = 0; i < std::max(kept.size(), lines.size()); ++i)
    if (!alike(kept.value(i), lines.value(i)))
      return QStringLiteral("%1, line %2\n  kept:  %3\n  drawn: %4")
          .arg(file.fileName())
          .arg(i + 1)
          .arg(kept.value(i, QStringLiteral("nothing more")), lines.value(i, QStringLiteral("nothing more")));
  return {};
}

bool useBoxFonts() {
  for (const char* file : {"box_ui.ttf", "box_mono.ttf"})
    if (QFontDatabase::addApplicationFont(kFolder + QLatin1String(file)) < 0) return false;
  const auto widthOf = [](QFont font) {
    font.setPixelSize(100);
    font.setHintingPreference(QFont::PreferNoHinting);
    return qRound(QFontMetricsF(font).horizontalAdvance(QStringLiteral("Wi")));
  };
  return widthOf(uiFont()) == 120 && widthOf(monoFont()) == 100;
}

}  // namespace fusescope::test
