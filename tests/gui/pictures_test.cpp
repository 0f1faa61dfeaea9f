#include <QPainter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QtTest>

#include "tests/gui/gui_support.h"
#include "tests/gui/recorded_drawing.h"
#include "ui/compare/plan_comparison.h"
#include "ui/compare/two_views.h"
#include "ui/docks/inspector_dock.h"
#include "ui/window/main_window.h"

using namespace fusescope;

namespace {

const QSize kPicture(1200, 900);

QString colorName(const QBrush& brush) {
  return brush.style() == Qt::NoBrush ? QStringLiteral("as text") : brush.color().name();
}

/// Its words, block by block, in which colours and weights.
QStringList wordsOf(const QTextDocument& text) {
  QStringList lines;
  for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextCharFormat format = part.fragment().charFormat();
      lines << QStringLiteral("words \"%1\" %2%3%4")
                   .arg(part.fragment().text().trimmed(), colorName(format.foreground()),
                        format.fontWeight() > QFont::Normal ? QStringLiteral(" bold") : QString(),
                        format.isAnchor() ? QStringLiteral(" link") : QString());
    }
  return lines;
}

}  // namespace

/// What a few states of the window look like, against what is kept in tests/gui/pictures: a colour, a size, a mark or a
/// word that changes or is missing fails here, and is looked at before it is kept anew.
///
/// What is kept is a list of all that is drawn, not of pixels. Two machines paint other pixels from the same list:
/// their FreeType, their fonts and Qt's rounding differ between Debian 12 and Ubuntu. Where things lie comes of the
/// extents of text, so that the test brings fonts of its own, whose letters are boxes of one width, unhinted; where Qt
/// rounds them otherwise it is by a pixel, which is let pass. The target is a table, so that the plan is the same on
/// every machine, and no time is known. What the list does not tell is whether a platform's painting of it is right.
class PicturesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (!test::useBoxFonts()) QSKIP("other fonts called Inter or JetBrains Mono stand in the place of the test's");
  }
  void init() { test::catchWarnings(); }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void canvas_data() { themes(); }
  void canvas() {
    open();
    QVERIFY(m_window->canvas().waitForLayout(test::kPatienceMs));
    check("canvas", drawingOf(m_window->canvas()));
  }

  void canvasWithAnOpenKernel_data() { themes(); }
  void canvasWithAnOpenKernel() {
    open();
    m_window->canvas().expandAll();
    QVERIFY(m_window->canvas().waitForLayout(test::kPatienceMs));
    check("canvas_open", drawingOf(m_window->canvas()));
  }

  void twoViews_data() { themes(); }
  void twoViews() {
    open();
    m_window->actions().find("two_views")->trigger();
    TwoViews& views = m_window->twoViews();
    QTRY_VERIFY(!views.comparison().busy() && views.comparison().scenes() &&
                views.viewOfA().scene() == views.comparison().scenes()->a);
    QTRY_VERIFY(m_window->jobs().idle());
    check("view_of_a", drawingOf(views.viewOfA()));
    check("view_of_b", drawingOf(views.viewOfB()));
  }

  void ribbon_data() { themes(); }
  void ribbon() {
    open();
    Ribbon& ribbon = m_window->ribbon();
    QTRY_VERIFY(ribbon.isVisible() && ribbon.idle());
    check("ribbon", test::recordedDrawing(ribbon.size(), [&](QPainter& painter) {
            ribbon.render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground);
          }));
  }

  void inspector_data() { themes(); }
  void inspector() {
    open();
    m_window->selection().set(m_window->document().snapshot()->nodesNamed("node_linear_1"));
    auto& dock = m_window->dock<InspectorDock>();
    m_window->showDock("Inspector");
    dock.catchUp();
    check("inspector", wordsOf(*dock.findChild<QTextBrowser*>()->document()));
  }

 private:
  static void themes() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("dark") << true;
    QTest::newRow("light") << false;
  }
  /// A network that is lowered, with a pin that takes a kernel apart.
  void open() {
    QFETCH(bool, dark);
    m_window = test::shownWindow({.size = QSize(1440, 900)});
    m_window->setTheme(dark ? ThemeKind::Dark : ThemeKind::Light);
    QVERIFY(test::openSample(*m_window, "fp16_overflow"));
    PlanOptions options = m_window->document().options();
    options.target = "tensorrt-10";
    options.precisions = {DataType::F16};
    m_window->document().edit("Lower", std::move(options));
    QTRY_VERIFY(!m_window->document().planning());
    m_window->document().pin({"node_relu_1"}, DataType::F32, Strictness::Obey);
    QTRY_VERIFY(!m_window->document().planning());
    QTRY_VERIFY(m_window->jobs().idle());
  }
  static QStringList drawingOf(const GraphView& view) {
    return test::recordedDrawing(kPicture,
                                 [&](QPainter& painter) { view.renderTo(painter, QRectF(QPointF(), kPicture)); });
  }
  void check(const QString& what, const QStringList& lines) {
    QFETCH(bool, dark);
    QVERIFY(lines.size() > 5);
    const QString difference = test::differenceFromKept(what + (dark ? "_dark" : "_light"), lines);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(PicturesTest, 10)
#include "pictures_test.moc"
