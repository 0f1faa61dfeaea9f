// How large text on the canvas is, and how much of it there is room for.
#include <QFontMetricsF>
#include <QPaintEngine>
#include <QtTest>
#include <map>

#include "tests/gui/drawn_plan.h"
#include "tests/gui/sample_canvas.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_painter.h"

namespace fusescope {

namespace {

using test::drawn;
using test::Drawn;

/// Notes how large text is that is painted on it, in its pixels.
class TextRecorder : public QPaintDevice {
 public:
  QPaintEngine* paintEngine() const override { return &m_engine; }
  const std::vector<double>& sizes() const { return m_engine.sizes; }
  const QStringList& words() const { return m_engine.words; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
      case PdmHeight:
        return 10'000;
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 96;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return int(devicePixelRatioFScale());
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  class Engine : public QPaintEngine {
   public:
    Engine() : QPaintEngine(AllFeatures) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState& state) override {
      if (state.state() & DirtyTransform) m_scale = state.transform().m22();
    }
    void drawTextItem(const QPointF&, const QTextItem& item) override {
      sizes.push_back(item.font().pixelSize() * m_scale);
      words << item.text();
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPath(const QPainterPath&) override {}
    Type type() const override { return User; }
    std::vector<double> sizes;
    QStringList words;

   private:
    double m_scale = 1;
  };
  mutable Engine m_engine;
};

}  // namespace

class TextSizesTest : public test::SampleCanvas {
  Q_OBJECT

 private slots:
  void noTextIsTooSmallToBeRead() {
    const Drawn all = drawn(m_plan);
    const CanvasColors colors(all.scene, *findColorMode("precision"), {}, Theme::light());
    std::map<double, std::size_t> words;
    for (const double scale : {0.05, 0.2, 0.3, 0.35, 0.5, 0.65, 0.7, 0.8, 0.82, 0.85, 0.9, 1.0, 1.5, 2.0}) {
      TextRecorder recorder;
      QPainter painter(&recorder);
      painter.scale(scale, scale);
      CanvasLook look;
      look.theme = &Theme::light();
      look.colors = &colors;
      look.failing = all.place(m_plan->fusedNodes[3]);
      paintCanvas(painter, *all.scene, look, all.scene->bounds, scale);
      painter.end();
      words[scale] = recorder.sizes().size();
      for (std::size_t i = 0; i < recorder.sizes().size(); ++i)
        QVERIFY2(recorder.sizes()[i] >= 8.95, qPrintable(QString("%1 at zoom %2 has %3 pixels")
                                                             .arg(recorder.words()[int(i)])
                                                             .arg(scale)
                                                             .arg(recorder.sizes()[i])));
    }
    QVERIFY(words[1.0] > words[0.85] && words[0.85] > words[0.5] && words[0.5] > m_plan->fusedNodes.size());
  }

  void titlesThatAreTooWideHaveTwoLines() {
    const QFont font = titleFont();
    const QFontMetricsF metrics(font);
    const auto width = [&](const char* text) { return metrics.horizontalAdvance(QString::fromUtf8(text)) + 0.5; };
    using Lines = std::pair<QString, QString>;
    QVERIFY(titleInTwoLines("Gemm + Relu", font, width("Gemm +"), width("Relu")) == Lines("Gemm +", "Relu"));
    QVERIFY(titleInTwoLines("Conv + Add + Relu", font, width("Conv + Add +"), width("Relu")) ==
            Lines("Conv + Add +", "Relu"));
    QVERIFY(titleInTwoLines("Conv + Add + Relu", font, width("Conv +"), width("Add …")) == Lines("Conv +", "Add …"));
    // Where not even the first operator has room, it stays in one line.
    QVERIFY(titleInTwoLines("Gemm + Relu", font, width("Gem"), width("Relu")).second.isEmpty());
    QVERIFY(titleInTwoLines("LayerNormalization", font, width("Layer"), width("Relu")).second.isEmpty());
  }
};

}  // namespace fusescope

using fusescope::TextSizesTest;
FUSESCOPE_GUI_TEST(TextSizesTest, 2)
#include "text_sizes_test.moc"
