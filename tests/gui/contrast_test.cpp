#include <QtTest>
#include <array>
#include <cmath>

#include "tests/gui/color_distance.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/canvas_badges.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/edge_labels.h"
#include "ui/canvas/graph_view.h"
#include "ui/document/qt_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/name_combo_box.h"

using namespace fusescope;
using test::distance;

namespace {

constexpr double kText = 4.5, kLine = 3.0;
constexpr double kLeastApart = 12;  ///< of two colours in a legend

/// Two colours that are seen one upon the other.
struct Pair {
  QString what;
  QColor front, back;
  double least;
};

constexpr std::array kLevels = {
    ErrorLevel::CannotBeDetermined, ErrorLevel::Exact,  ErrorLevel::FarWithin, ErrorLevel::Within,
    ErrorLevel::Harmless,           ErrorLevel::Beyond, ErrorLevel::FarBeyond, ErrorLevel::NotFinite};

/// What a box, or the inside of an open fused node, can be filled with.
QList<QColor> swatches(const Theme& theme) {
  QList<QColor> colors;
  for (const Swatch& swatch : precisionLegend(theme)) colors << swatch.color;
  for (const Swatch& swatch : kindLegend(theme)) colors << swatch.color;
  for (const ErrorLevel level : kLevels) colors << levelColor(level, theme);
  for (int decided = 0; decided <= static_cast<int>(Decided::Refused); ++decided)
    colors << decidedSwatch(static_cast<Decided>(decided), theme).color;
  for (const QColor& step : scaleColors(theme)) colors << step;
  for (int segment = 0; segment < 6; ++segment) colors << segmentColor(segment, false, theme);
  return colors << segmentColor(0, true, theme);
}

/// Colours that may stand in one legend.
QList<QPair<QString, QList<QColor>>> legends(const Theme& theme) {
  QList<QColor> precisions, kinds, segments{segmentColor(0, true, theme)};
  QList<QColor> errors{theme.dimText, levelColor(ErrorLevel::Unknown, theme)};  // inputs, and what is not measured
  for (const ErrorLevel level : kLevels) errors << levelColor(level, theme);
  for (const Swatch& swatch : precisionLegend(theme)) precisions << swatch.color;
  precisions << precisionSwatch(DataType::Undefined, theme).color;
  for (const Swatch& swatch : kindLegend(theme)) kinds << swatch.color;
  for (int segment = 0; segment < 12; ++segment) segments << segmentColor(segment, false, theme);
  QList<QColor> decisions, amounts{theme.dimText, theme.disabledText};
  for (int decided = 0; decided <= static_cast<int>(Decided::Refused); ++decided)
    decisions << decidedSwatch(static_cast<Decided>(decided), theme).color;
  for (const QColor& step : scaleColors(theme)) amounts << step;
  return {{"precisions", precisions}, {"kinds", kinds},         {"segments", segments},
          {"errors", errors},         {"decisions", decisions}, {"amounts", amounts}};
}

QList<Pair> pairsOf(const Theme& theme) {
  QList<Pair> pairs;
  const QList<QPair<QString, QColor>> grounds = {{"window", theme.window},
                                                 {"base", theme.base},
                                                 {"raised", theme.raised},
                                                 {"container", theme.container},
                                                 {"canvas", theme.canvas}};
  const QList<QPair<QString, QColor>> texts = {{"text", theme.text},       {"dim text", theme.dimText},
                                               {"link", theme.link},       {"success", theme.success},
                                               {"warning", theme.warning}, {"error", theme.error}};
  for (const auto& [ground, back] : grounds) {
    for (const auto& [text, front] : texts) pairs.append({text + " on " + ground, front, back, kText});
  }
  for (const auto& [text, front] : texts) {
    pairs.append({text + " on a selected row", front, selectionColor(theme), kText});
  }
  pairs.append({"text on accent", theme.onAccent, theme.accent, kText});
  for (const QColor& fill : swatches(theme)) {
    const QColor inside = mixed(theme.container, fill, 0.09);
    const QColor box = mixed(theme.box, fill, theme.kind == ThemeKind::Dark ? 0.13 : 0.10);
    const QColor far = mixed(theme.box, fill, 0.30);
    pairs.append({"badge " + fill.name(), readableOn(fill), fill, kText});
    pairs.append({"text in a box of " + fill.name(), theme.text, box, kText});
    pairs.append({"dim text in a box of " + fill.name(), theme.dimText, box, kText});
    pairs.append({"name in a far box of " + fill.name(), theme.text, far, kText});
    pairs.append({"header of a container of " + fill.name(), theme.dimText, inside, kText});
    pairs.append({"edge in a container of " + fill.name(), theme.edge, inside, kLine});
    pairs.append({"outline of a prediction of " + fill.name(), mixed(theme.border, fill, 0.9), theme.canvas, kLine});
  }
  for (const QColor& ground : {theme.canvas, theme.container}) {
    pairs.append({"edge", theme.edge, ground, kLine});
    pairs.append({"lit edge", theme.accent, ground, kLine});
    pairs.append({"match", theme.match, ground, kLine});
    pairs.append({"failure", theme.error, ground, kLine});
  }
  for (const auto& [ground, back] : grounds) {
    pairs.append({"selection on " + ground, theme.accent, back, kLine});
    pairs.append({"bar of a chart on " + ground, theme.chart, back, kLine});
  }
  pairs.append({"default button", theme.base, theme.text, kText});
  pairs.append({"default button under the mouse", theme.base, theme.dimText, kText});
  for (int mark = 0; mark < kMarks; ++mark) {
    const QColor fill = markColor(static_cast<Mark>(mark), theme);
    pairs.append({"badge " + markWord(static_cast<Mark>(mark)), readableOn(fill), fill, kText});
    pairs.append({"badge upon the canvas " + markWord(static_cast<Mark>(mark)), fill, theme.canvas, kLine});
  }
  pairs.append({"arrow of a box", QColor("#7c8490"), theme.base, kLine});
  return pairs;
}

}  // namespace

/// Everything that is to be read can be read: in contrast, and whole.
class ContrastTest : public QObject {
  Q_OBJECT

 private slots:
  void everyPairOfColoursIsFarEnoughApart() {
    QStringList close;
    int pairs = 0;
    for (const Theme* theme : {&Theme::dark(), &Theme::light()}) {
      for (const Pair& pair : pairsOf(*theme)) {
        ++pairs;
        const double ratio = contrastRatio(pair.front, pair.back);
        if (ratio < pair.least)
          close << QString("%1: %2 %3").arg(theme->kind == ThemeKind::Dark ? "dark" : "light", pair.what).arg(ratio);
      }
    }
    QVERIFY(pairs > 300);
    QVERIFY2(close.isEmpty(), qPrintable(close.join('\n')));
  }

  void noTwoColoursOfALegendLookAlike() {
    QStringList alike;
    for (const Theme* theme : {&Theme::dark(), &Theme::light()}) {
      for (const auto& [legend, colors] : legends(*theme)) {
        for (int a = 0; a < colors.size(); ++a) {
          for (int b = a + 1; b < colors.size(); ++b) {
            const double apart = distance(colors[a], colors[b]);
            if (apart < kLeastApart)
              alike << QString("%1: %2 and %3 are %4 apart").arg(legend, colors[a].name(), colors[b].name()).arg(apart);
          }
        }
      }
    }
    QVERIFY2(alike.isEmpty(), qPrintable(alike.join('\n')));
  }

  void linksHaveTheThemesColour() {
    for (const Theme* theme : {&Theme::dark(), &Theme::light()}) {
      applyTheme(*qApp, *theme);
      QCOMPARE(QApplication::palette().color(QPalette::Link), theme->link);
      QVERIFY(contrastRatio(QApplication::palette().color(QPalette::LinkVisited), theme->base) >= kText);
    }
  }

  void extentsAndATimeHaveRoomInABox() {
    const auto snapshot = test::planSample("squeezenet1_1");
    const CanvasFonts fonts;
    const CanvasScene scene = buildCanvas(*snapshot->plan, OpenState(), fonts);
    const QFontMetricsF font(metaFont());
    int boxes = 0;
    for (const CanvasItem& item : scene.items) {
      if (item.container != &fusedContainers() || item.open) continue;
      ++boxes;
      const double room = item.size.width() - metrics::kBoxPaddingX - metrics::kStripe - 9;  // as boxText()
      for (const char* time : {"[85.2 µs]", "[0.123 ms]", "≈ 0.413 ms", "emulated"}) {
        const double needed = font.horizontalAdvance(item.meta) + font.horizontalAdvance(QString::fromUtf8(time)) + 8;
        QVERIFY2(needed <= room, qPrintable(QString("%1 %2: %3 in %4").arg(item.meta, time).arg(needed).arg(room)));
      }
      QVERIFY2(!item.meta.contains(QChar(0x2026)), qPrintable(item.meta));
    }
    QVERIFY(boxes > 30);
  }

  void everyPrecisionHasRoomInABox() {
    for (int type = 1; type <= static_cast<int>(DataType::C128); ++type) {
      const QString label = precisionSwatch(static_cast<DataType>(type), Theme::dark()).label;
      QVERIFY2(badgeWidth(label) <= metrics::kBadgeWidth, qPrintable(label));
    }
    QCOMPARE(badgeWidth(QString()), 0.0);
    // An error of another plan is longer, and takes the room of the title.
    QVERIFY(badgeWidth("[0.0003]") > metrics::kBadgeWidth);
  }

  void sharedInputsWithoutRoomAreCounted() {
    CanvasItem item;
    item.size = QSizeF(metrics::kWidestBox, 78);
    for (int i = 0; i < 24; ++i) item.stubs << QStringLiteral("relu_%1").arg(i + 90);
    const QStringList shown = stubLabels(item);
    QVERIFY(shown.size() > 2 && shown.size() < item.stubs.size());
    QCOMPARE(shown.mid(0, shown.size() - 1), item.stubs.mid(0, shown.size() - 1));
    QCOMPARE(shown.last(), QStringLiteral("+%1").arg(25 - shown.size()));
    double width = metrics::kBoxPaddingX + metrics::kStripe;
    for (const QString& label : shown)
      width += QFontMetricsF(metaFont()).horizontalAdvance(label) + metrics::kStubPadding + metrics::kStubGap;
    QVERIFY(width <= item.size.width());
    item.stubs = item.stubs.mid(0, 2);
    QCOMPARE(stubLabels(item), item.stubs);
  }

  void labelsOfEdgesDoNotCollide() {
    // One producer, many readers, each through a cast of its own; their edges come close to each other.
    CanvasScene scene;
    CanvasItem box;
    box.kind = ItemKind::Node;
    scene.rects.emplace_back(0, 0, 132, 60);
    scene.items.push_back(box);
    for (int i = 0; i < 12; ++i) {
      scene.rects.emplace_back(i * 40 - 200, 200, 30, 60);
      scene.items.push_back(box);
      CanvasEdge edge;
      edge.from = 0;
      edge.to = i + 1;
      edge.label = "f32[1, 64, 55, 55]";
      if (i % 2 == 0) edge.cast = "f32 → f16";
      const QPointF from(66, 60), to = scene.rects.back().center() - QPointF(0, 30);
      scene.curves.add(std::vector{from, from + QPointF(0, 60), to - QPointF(0, 60), to});
      scene.edges.push_back(edge);
    }
    scene.rects.emplace_back(40, 150, 20, 10);  // above it is where labels are put
    scene.items.push_back(box);
    scene.indexPlaces();
    const QSet<int> selected{0};
    CanvasLook look;
    look.selected = &selected;
    const auto labels = placeEdgeLabels(scene, look, QRectF(-400, -100, 1000, 600), 1.0);
    QVERIFY(labels.size() >= 4);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) QVERIFY(!labels[i].rect.intersects(labels[j].rect));
      for (const QRectF& rect : scene.rects) QVERIFY(!labels[i].rect.intersects(rect));
    }
    // None lies on the words above a box that goes wrong, where one of them would.
    bool wouldLie = false;
    for (int failing = 0; failing < int(scene.items.size()); ++failing) {
      const QRectF words = failureWordsPlace(scene.rects[std::size_t(failing)]);
      for (const EdgeLabel& label : labels) wouldLie |= label.rect.intersects(words);
      look.failing = failing;
      for (const EdgeLabel& label : placeEdgeLabels(scene, look, QRectF(-400, -100, 1000, 600), 1.0))
        QVERIFY(!label.rect.intersects(words));
    }
    QVERIFY2(wouldLie, "else this tests nothing");
  }

  void namesKeepTheirEnds() {
    applyTheme(*qApp, Theme::dark());
    NameComboBox box;
    box.addItem("run 12: f16, 3 pins of encoder.layer.11");
    box.addItem("run 13: f16, 3 pins of encoder.layer.12");
    box.resize(150, 28);
    box.show();
    QStringList shown;
    for (const int i : {0, 1}) {
      box.setCurrentIndex(i);
      shown << box.shownText();
      QVERIFY2(shown.last().contains(QChar(0x2026)), qPrintable(shown.last()));
    }
    QVERIFY2(shown[0].endsWith("11") && shown[1].endsWith("12"), qPrintable(shown.join(", ")));
    const CanvasFonts fonts;
    QVERIFY(fonts.title.elided("a_name_that_is_far_too_long_for_its_box_42", 120).endsWith("42"));
  }
};

FUSESCOPE_GUI_TEST(ContrastTest, 8)
#include "contrast_test.moc"
