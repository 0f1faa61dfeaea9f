#include <QDir>
#include <QHelpEvent>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolTip>
#include <QtTest>
#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "planning/plan_options_json.h"
#include "session/documents/tune_report.h"
#include "tests/gui/gui_support.h"
#include "tests/gui/tune_window.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

using test::kSearchMs;

/// The search for pins in the window: what it finds grows in the plot, it can be stopped, and nothing changes until it
/// is taken.
class TuneTest : public QObject, private test::TuneWindow {
  Q_OBJECT

 private slots:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void findsThePinsAndTheyAreOneStep() {
    openOverflow();
    const PlanOptions before = m_window->document().options();
    TuneDialog& dialog = open();
    QVERIFY(!dialog.stopButton().isEnabled() && !dialog.takeButton().isEnabled());
    QCOMPARE(dialog.precision().currentText(), QStringLiteral("f16"));
    dialog.allowed().setText("much");
    QVERIFY(!dialog.startButton().isEnabled() && dialog.said().contains("much"));
    dialog.allowed().setText("0.009");
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QVERIFY(dialog.working() && dialog.stopButton().isEnabled() && !dialog.startButton().isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
    QVERIFY2(dialog.said().startsWith("✓ Found: error"), qPrintable(dialog.said()));
    QVERIFY(dialog.said().contains("1 sample,") && !dialog.said().contains("random"));
    QVERIFY2(dialog.said().contains("Export writes with these pins has an error of"), qPrintable(dialog.said()));
    QVERIFY(dialog.pins().rowCount() >= 1);
    QVERIFY2(!dialog.plot().points().empty(), "the front is drawn");
    QVERIFY(m_window->document().options() == before);  // nothing changes by itself
    QCOMPARE(m_window->document().undoStack().count(), 0);
    const auto pins = static_cast<std::size_t>(dialog.pins().rowCount());
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().undoStack().count(), 1);
    QCOMPARE(m_window->document().options().precisions, std::vector{DataType::F16});
    QCOMPARE(m_window->document().directives().size(), pins);
    QCOMPARE(m_window->runs().settings().tolerance.rms, std::optional(0.009));  // exports are held to it, too
    for (const Directive& pin : m_window->document().directives()) QVERIFY(!pin.note.empty());
    // They do what was asked.
    m_window->controller().evaluateErrors();
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller().busy(), kSearchMs);
    QVERIFY2(m_window->controller().problem().isEmpty(), qPrintable(m_window->controller().problem()));
    for (const TensorErrors& tensor : m_window->runs().shown()->errors.front()->tensors)
      if (tensor.isOutput) QVERIFY(tensor.errors.carried->maxOverRms <= 0.01);
    m_window->document().undoStack().undo();
    QVERIFY(m_window->document().options() == before);
  }

  void aPointIsASetThatCanBeChosen() {
    openOverflow();
    TuneDialog& dialog = open();
    QVERIFY2(plotOf(dialog).accessibleDescription().contains("No set"), "there is nothing to put on axes");
    dialog.allowed().setText("0.01");
    search(dialog);
    const std::vector<TunedPoint> points = dialog.plotted();
    QVERIFY2(points.size() >= 2, qPrintable(QString::number(points.size())));
    const int recommended = dialog.pins().rowCount();
    const TunedPoint* other = nullptr;
    for (const TunedPoint& point : points) {
      click(dialog, point);
      QCOMPARE(dialog.pins().rowCount(), int(point.pins));
      QVERIFY2(dialog.said().contains("Chosen in the plot: error"), qPrintable(dialog.said()));
      const QString hovered = hoverText(dialog, point);
      QVERIFY2(hovered.contains("error") && hovered.contains("pin"), qPrintable(hovered));
      if (int(point.pins) != recommended && point.pins > 0) other = &point;
    }
    // By keys as well.
    plotOf(dialog).setFocus();
    QTest::keyClick(&plotOf(dialog), Qt::Key_Home);
    const int first = dialog.pins().rowCount();
    QTest::keyClick(&plotOf(dialog), Qt::Key_End);
    QVERIFY(dialog.pins().rowCount() != first);
    QVERIFY(plotOf(dialog).accessibleDescription().contains("chosen"));
    // What is taken is what is shown.
    QVERIFY(other != nullptr);
    click(dialog, *other);
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(other->pins));
  }

  void whatIsAllowedIsWrittenWhereNoPointIs() {
    ErrorPlot plot([]() -> const Theme& { return Theme::dark(); });
    plot.resize(420, 260);
    ErrorPlotContent content{.allowed = 0.01};
    for (int i = 0; i < 8; ++i) content.points.push_back({.across = 1 + 0.02 * i, .error = 0.0102 + 0.0002 * i});
    content.points.push_back({.across = 4, .error = 0.0001});
    plot.setContent(content);
    const QRectF place = plot.allowedPlace();
    QVERIFY(QRectF(plot.rect()).contains(place));
    for (const PlotPoint& point : plot.points())
      QVERIFY2(!place.contains(plot.placeOf(point)), qPrintable(QString::number(point.error)));
    content.allowed.reset();
    plot.setContent(content);
    QVERIFY(plot.allowedPlace().isEmpty());
  }

  void takenPinsAreSaidWithWhatTheSearchFound() {
    openOverflow();
    TuneDialog& first = open();
    first.allowed().setText("0.01");
    search(first);
    const std::vector<TunedPoint> points = first.plotted();
    const int pins = first.pins().rowCount();
    QVERIFY(pins > 0 && points.size() >= 2);
    QTest::mouseClick(&first.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    TuneDialog& again = open();
    QTRY_VERIFY2(again.said().startsWith("✓ The plan has these pins"), qPrintable(again.said()));
    QVERIFY2(again.said().contains("✓ Found: error"), qPrintable(again.said()));
    QVERIFY(again.plotted() == points);
    QCOMPARE(again.pins().rowCount(), pins);
    QVERIFY(!again.takeButton().isEnabled() && again.takeButton().toolTip().contains("has these pins already"));
    QVERIFY2(again.goOn().isVisible(), "another search is of the network without them");
    // Another of its sets takes their place.
    const auto other =
        std::ranges::find_if(points, [&](const TunedPoint& point) { return point.pins > 0 && point.pins != pins; });
    QVERIFY(other != points.end());
    click(again, *other);
    QVERIFY2(!again.said().contains("The plan has these pins"), qPrintable(again.said()));
    QTest::mouseClick(&again.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(other->pins));
    TuneDialog& third = open();
    QTRY_VERIFY2(third.said().startsWith("✓ The plan has these pins"), qPrintable(third.said()));
    QCOMPARE(third.pins().rowCount(), int(other->pins));
    third.reject();
    // Of what was searched without them it is what was found.
    m_window->document().clearDirectives(m_window->document().namesOf(plan().graph().order()));
    QTRY_VERIFY(!m_window->document().planning());
    TuneDialog& fourth = open();
    QTRY_VERIFY2(fourth.said().startsWith("✓ Found: error"), qPrintable(fourth.said()));
  }

  /// Two pins are enough, and everything pinned beats them in time and in error.
  void whatEverythingPinnedBeatsIsSaidAndCanBeChosen() {
    openOverflow();
    const Plan& plan = *m_window->document().snapshot()->plan;
    TuneReport report = reportOf(plan);
    TuneResult& found = report.result;
    TunePoint few{.pins = {1, 3}, .error = 0.008, .cost = {.ms = 2.5, .how = PriceSource::Measured}, .measured = 0.008};
    found.chosen = found.allPinned;
    found.beatenByAllPinned = few;
    found.front = {found.allPinned, few};
    for (const Directive& node : report.nodes) report.pins.push_back({.directive = node, .without = {}});
    report.options.directives = report.nodes;
    assignIds(report.options.directives);
    answerWith(report);
    TuneDialog& dialog = open();
    search(dialog);
    QCOMPARE(dialog.pins().rowCount(), int(report.nodes.size()));
    for (const char* said : {"2 pins would be enough", "faster (≈ 1.25 ms against ≈ 2.50 ms)",
                             "less error (0.001 against 0.008)", "lowering does not pay", "choose that point"})
      QVERIFY2(dialog.said().contains(QString::fromUtf8(said)), qPrintable(dialog.said()));
    for (const TunedPoint& point : dialog.plotted()) {
      click(dialog, point);
      QVERIFY(hoverText(dialog, point).contains("error"));
      QCOMPARE(dialog.pins().rowCount(), int(point.pins));
      const bool beaten = point.pins == 2;
      QVERIFY2(dialog.said().contains("With everything pinned the network is faster") == beaten,
               qPrintable(dialog.said()));
      QVERIFY2(dialog.said().contains("was not tried on the reference") == beaten, qPrintable(dialog.said()));
    }
    click(dialog, dialog.plotted()[1]);
    QTest::mouseClick(&dialog.takeButton(), Qt::LeftButton);
    QTRY_VERIFY(!m_window->document().planning());
    QCOMPARE(m_window->document().directives().size(), std::size_t(2));
  }

  /// Everything pinned is chosen for the time alone, in a plan that has pins already.
  void whatIsPinnedForTheTimeAloneIsNotSaidToBeNeeded() {
    openOverflow();
    TuneReport report = reportOf(*m_window->document().snapshot()->plan);
    TuneResult& found = report.result;
    found.unpinned.error = 0.002;
    found.chosen = found.allPinned;
    found.beatenByAllPinned = found.unpinned;
    found.front = {found.allPinned, found.unpinned};
    found.minimal = true;
    for (std::uint32_t pin = 0; pin < report.nodes.size(); ++pin)
      report.pins.push_back({.directive = report.nodes[pin], .without = TuneResult::Without{pin, 0.0015, true}});
    report.options.directives = report.nodes;
    assignIds(report.options.directives);
    answerWith(report);
    TuneDialog& dialog = open();
    search(dialog);
    QVERIFY2(dialog.said().contains("No pin is needed for such an error, but with everything pinned"),
             qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("without any one of them the error stays within what is allowed"),
             qPrintable(dialog.said()));
    for (const char* said : {"0 pins would be enough", "No single pin", "further"})
      QVERIFY2(!dialog.said().contains(said), qPrintable(dialog.said()));
    report.options.directives.insert(report.options.directives.begin(), 3, report.nodes.front());
    answerWith(report);
    search(dialog);
    for (const char* said : {"The plan keeps 3 pins that it has, which are not counted", "Without further pins: error",
                             "No further pin is needed for such an error"})
      QVERIFY2(dialog.said().contains(said), qPrintable(dialog.said()));
  }

  void saysWhatTheFoundSetIsElsewhere() {
    openOverflow();
    TuneReport report = reportOf(*m_window->document().snapshot()->plan);
    TuneResult& found = report.result;
    found.chosen = {.pins = {2}, .error = 0.0072, .cost = {.casts = 2}, .measured = 0.0061, .onReference = 0.0072};
    found.front = {found.chosen};
    report.pins = {{.directive = report.nodes[2], .without = {}}};
    report.options.directives = {report.nodes[2]};
    assignIds(report.options.directives);
    report.searchLimit = 0.0075;
    report.exported = ExportedCheck{.numbers = CheckedNumbers{.samples = 1}};
    report.exported->numbers->onReference.worst = 0.0083;
    report.exported->numbers->onEngine.worst = 0.0079;
    answerWith(report);
    TuneDialog& dialog = open();
    search(dialog);
    for (const char* said : {"0.0061 by the backend native and 0.0072 by the reference",
                             "an error of 0.0083 on the reference and 0.0079 on the engine",
                             "A set within 0.01 exceeded that once it was exported", "went on for 0.0075"})
      QVERIFY2(dialog.said().contains(said), qPrintable(dialog.said()));
    QVERIFY(!dialog.said().contains("would be enough"));
    report.exported = ExportedCheck{.whyNot = "tensor 'c': no form of it. Give other types with --pin NODE=TYPE"};
    answerWith(report);
    search(dialog);
    QVERIFY2(dialog.said().contains("Export refuses the network with these pins: tensor 'c': no form of it"),
             qPrintable(dialog.said()));
    QVERIFY2(!dialog.said().contains("--"), qPrintable(dialog.said()));
  }

  void aStoppedSearchGoesOnInTheSessionThatWasOpenedAgain() {
    openOverflow();
    TuneDialog& dialog = open();
    QVERIFY(!dialog.goOn().isVisible() && !dialog.metric().isVisible());
    QTest::mouseClick(&dialog.advanced().header(), Qt::LeftButton);
    QVERIFY(dialog.metric().isVisible() && dialog.evaluations().isVisible());
    dialog.evaluations().setValue(3);
    search(dialog);
    QVERIFY2(dialog.said().contains("ended by: evaluations; a new start continues"), qPrintable(dialog.said()));
    const std::size_t some = remembered();
    QVERIFY(some > 0 && some <= 3);
    QVERIFY2(dialog.goOn().isVisible() && dialog.goOn().isChecked(), "it can go on");
    const QString file = m_folder->filePath("s.fsession");
    QVERIFY(m_window->session().save(file).ok());
    m_window->close();

    m_window = m_folder->makeWindow();
    m_window->session().open(file);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kSearchMs);
    TuneDialog& again = open();
    QVERIFY2(again.goOn().isVisible() && again.goOn().isChecked(), "what was evaluated is there");
    QVERIFY(again.metric().isVisible());  // what was asked for is in sight
    QCOMPARE(again.evaluations().value(), 3);
    again.evaluations().setValue(0);
    again.baselines().setChecked(true);
    search(again);
    QVERIFY2(again.said().startsWith("✓ Found: error") && again.said().contains("Pins that known searches need: "),
             qPrintable(again.said()));
    QVERIFY(remembered() > some);
    again.goOn().setChecked(false);  // from the beginning
    again.baselines().setChecked(false);
    again.evaluations().setValue(2);
    search(again);
    QVERIFY(remembered() <= 2);
  }

  void isStoppedWithTheBestSoFar() {
    QTemporaryDir folder;
    m_window->openFile(test::writeResidualChain(folder.path(), 400));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->document().snapshot() != nullptr, kSearchMs);
    TuneDialog& dialog = open();
    dialog.precision().setCurrentIndex(1);
    dialog.budget().setValue(0);
    dialog.allowed().setText("1e-7");
    QTest::mouseClick(&dialog.startButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.plot().points().empty(), kSearchMs);  // it grows while it works
    QVERIFY(dialog.working());
    QTest::mouseClick(&dialog.stopButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.working(), kSearchMs);
    QVERIFY2(dialog.said().contains("ended by: stopped"), qPrintable(dialog.said()));
    QVERIFY2(dialog.said().contains("random"), qPrintable(dialog.said()));
    QVERIFY(dialog.startButton().isEnabled());
    QCOMPARE(m_window->document().undoStack().count(), 0);
  }

 private:
  const Plan& plan() { return *m_window->document().snapshot()->plan; }
  static ErrorPlot& plotOf(TuneDialog& dialog) { return *dialog.findChild<ErrorPlot*>(); }
  static QPoint placeOf(TuneDialog& dialog, const TunedPoint& point) {
    const auto place = std::ranges::find(dialog.plotted(), point) - dialog.plotted().begin();
    return plotOf(dialog).placeOf(plotOf(dialog).points()[static_cast<std::size_t>(place)]).toPoint();
  }
  static void click(TuneDialog& dialog, const TunedPoint& point) {
    QTest::mouseClick(&plotOf(dialog), Qt::LeftButton, {}, placeOf(dialog, point));
  }
  static QString hoverText(TuneDialog& dialog, const TunedPoint& point) {
    QToolTip::hideText();
    const QPoint at = placeOf(dialog, point);
    QHelpEvent asked(QEvent::ToolTip, at, plotOf(dialog).mapToGlobal(at));
    QCoreApplication::sendEvent(&plotOf(dialog), &asked);
    return QToolTip::text();
  }
  /// What a search says of all nodes of `plan`: each pinned they take 1.25 ms, and none 5 ms.
  static TuneReport reportOf(const Plan& plan) {
    TuneReport report;
    for (const NodeId node : plan.graph().order())
      report.nodes.push_back(
          {.kind = DirectiveKind::Pin, .pattern = plan.graph().node(node).name, .type = DataType::F32});
    report.pinnable = report.nodes.size();
    report.backend = "native";
    report.options = {.precisions = {DataType::F16}};
    report.searchLimit = 0.01;
    TuneResult& result = report.result;
    result.ok = true;
    result.unpinned = {.error = INFINITY, .cost = {.ms = 5, .how = PriceSource::Measured}};
    result.allPinned = {
        .error = 0.001, .cost = {.ms = 1.25, .how = PriceSource::Measured}, .measured = 0.001, .onReference = 0.001};
    for (std::uint32_t pin = 0; pin < report.nodes.size(); ++pin) result.allPinned.pins.insert(pin);
    return report;
  }
  /// From now on a script works for the window, which answers every search with `report`.
  void answerWith(const TuneReport& report) {
    TuneOptions options;
    options.goal.maxError = 0.01;
    Json answer = toJson(report, Samples{.list = {{"given", {}}}}, options);
    answer["options"] = toJson(report.options);
    const QString file = m_folder->filePath("answer.json"), script = m_folder->filePath("worker");
    QVERIFY(writeFileAtomically(file.toStdString(), answer.dump()).ok());
    QVERIFY(writeFileAtomically(script.toStdString(),
                                "#!/bin/sh\nwhile read -r line; do\n"
                                "  id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
                                "  printf '{\"id\":%s,\"event\":\"done\",\"result\":' \"$id\"; cat " +
                                    file.toStdString() + "; printf '}\\n'\ndone\n")
                .ok());
    QVERIFY(QFile::setPermissions(script, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    m_window->worker().setProgram(script);
  }
  /// How many evaluations the session's only search keeps.
  std::size_t remembered() {
    const QDir folder(m_window->controller().engineFolder());
    const QStringList states = folder.entryList({"tune-*.json"});
    if (states.size() != 1) return 0;
    const auto text = readTextFile(folder.filePath(states.front()).toStdString());
    return text.ok() ? Json::parse(text.value())["evaluations"].size() : 0;
  }
};

FUSESCOPE_GUI_TEST(TuneTest, 9)
#include "tune_test.moc"
