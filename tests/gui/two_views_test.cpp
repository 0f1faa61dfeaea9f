// Two plans on one layout: what differs is marked, said and can be stepped through.
#include <QComboBox>
#include <QtTest>
#include <algorithm>

#include "planning/fused_node_facts.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/canvas_overlay.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/compare/two_views.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

using namespace fusescope;

class TwoViewsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    m_window = test::activeWindow(QSize(1440, 900));
    QVERIFY(m_window != nullptr);
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  // squeezenet with a split: the plan before the last edit against the plan on screen.
  void aSplitIsMarkedAndSaid() {
    open("squeezenet1_1");
    edit([&] { document().direct({"node_Conv_7"}, DirectiveKind::Split); });
    show();
    QCOMPARE(comparison().a(), sides::kBefore);
    QCOMPARE(comparison().b(), sides::kScreen);
    QTRY_VERIFY(comparison().pair()->causesFound);
    const auto& groups = comparison().pair()->groups;
    const auto fusion = std::ranges::find(groups, DifferenceTopic::Fusion, &DifferenceGroup::topic);
    QVERIFY(fusion != groups.end());
    QCOMPARE(qs(fusion->what), QStringLiteral("one kernel → two: Relu apart"));
    QCOMPARE(fusion->because, Causes{"--split node_Conv_7 (only in B)"});
    // The group is open in both views, its kernels framed: one on the left, two on the right.
    QCOMPARE(views().viewOfA().overlay()->kernels.size(), std::size_t(1));
    QCOMPARE(views().viewOfB().overlay()->kernels.size(), std::size_t(2));
    QCOMPARE(wordsIn(views().viewOfA()), QStringList{QStringLiteral("here one kernel, there two: Relu apart")});
    QCOMPARE(wordsIn(views().viewOfB()), QStringList{QStringLiteral("here two kernels, there one: Relu apart")});
    // All else fades.
    const CanvasOverlay& overlay = *views().viewOfA().overlay();
    QCOMPARE(std::ranges::count(overlay.items, DiffSign::Changed), 1);
    QVERIFY(std::ranges::count(overlay.items, DiffSign::Equal) > 20);
    // The words stand in the list, and for those who hear it.
    const QModelIndex row = rowOf(QStringLiteral("one kernel → two: Relu apart"));
    QVERIFY(row.isValid());
    const QString heard = row.data(Qt::AccessibleTextRole).toString();
    QVERIFY2(heard.contains("because of --split node_Conv_7"), qPrintable(heard));
  }

  void bothSidesLieAtTheSamePlacesUnderOneCamera() {
    open("squeezenet1_1");
    edit([&] { document().direct({"node_Conv_7"}, DirectiveKind::Split); });
    show();
    QVERIFY(views().viewOfA().scene()->rects == views().viewOfB().scene()->rects);
    QCOMPARE(views().viewOfA().scene()->items.size(), views().viewOfB().scene()->items.size());
    views().viewOfB().setZoom(0.31);
    QVERIFY(views().viewOfA().camera() == views().viewOfB().camera());
    QTest::keyClick(&views().viewOfA(), Qt::Key_Space);
    QVERIFY(views().viewOfA().camera() == views().viewOfB().camera());
    QVERIFY(views().viewOfA().zoom() != 0.31);
    // Opening a box in one view opens it in both, at one place.
    const auto& fused = comparison().pair()->both.cover->fusedNodes;
    const auto closed = std::ranges::find_if(fused, [&](const FusedNode& each) {
      return each.nodes.size() > 1 && !views().viewOfA().isOpen(qs(handleOf(each)));
    });
    QVERIFY(closed != fused.end());
    const QString name = qs(handleOf(*closed));
    views().viewOfB().expand(name);
    QTRY_VERIFY(views().viewOfA().isOpen(name));
    QVERIFY(views().viewOfB().isOpen(name));
    QVERIFY(views().viewOfA().scene()->rects == views().viewOfB().scene()->rects);
  }

  void selectionIsShared() {
    open("squeezenet1_1");
    edit([&] { document().direct({"node_Conv_7"}, DirectiveKind::Split); });
    show();
    views().viewOfA().fit();
    const QRect box = views().viewOfA().itemRect("node_Conv_7");
    QVERIFY(!box.isEmpty());
    QTest::mouseClick(&views().viewOfA(), Qt::LeftButton, {}, box.center());
    QCOMPARE(views().viewOfB().selection(), QStringList{"node_Conv_7"});
    QCOMPARE(selectedNames(), QStringList{"node_Conv_7"});
    // What is selected elsewhere is selected here.
    const Graph& graph = document().snapshot()->graph();
    m_window->selection().set({*graph.findNode("node_relu")});
    QCOMPARE(views().viewOfA().selection(), QStringList{"node_relu"});
    QCOMPARE(views().viewOfB().selection(), QStringList{"node_relu"});
  }

  void keysStepThroughTheDifferences() {
    open("squeezenet1_1");
    edit([&] {
      Directives both{splitDirective("node_Conv_7"), splitDirective("node_Conv_10")};
      assignIds(both);
      document().editDirectives("two splits", both);
    });
    show();
    QTRY_VERIFY(comparison().pair()->causesFound);
    const int count = views().differences().groupCount();
    QVERIFY2(count >= 2, qPrintable(QString::number(count)));
    // The first is shown at once.
    QCOMPARE(currentRow(), 0);
    QVERIFY2(views().summary().startsWith(QStringLiteral("1 of %1 differences").arg(count)),
             qPrintable(views().summary()));
    const QStringList first = views().viewOfA().selection();
    QVERIFY(!first.isEmpty());
    QTest::keyClick(&views().viewOfA(), Qt::Key_N);
    QCOMPARE(currentRow(), 1);
    QVERIFY(views().viewOfA().selection() != first);
    QCOMPARE(views().viewOfB().selection(), views().viewOfA().selection());
    QTest::keyClick(&views().viewOfB(), Qt::Key_N, Qt::ShiftModifier);
    QCOMPARE(currentRow(), 0);
    QCOMPARE(views().viewOfB().selection(), first);
    m_window->actions().find("previous_difference")->trigger();
    QCOMPARE(currentRow(), count - 1);
    m_window->actions().find("next_difference")->trigger();
    QCOMPARE(currentRow(), 0);
    // A click in the list goes there, too.
    QTreeView& list = views().list();
    QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, list.visualRect(views().differences().index(1, 0)).center());
    QCOMPARE(currentRow(), 1);
    const QStringList nodes = views().differences().firstNodes(views().differences().index(1, 0));
    const QRect shown = views().viewOfB().itemRect(nodes.first());
    QVERIFY(views().viewOfB().rect().intersects(shown));
  }

  void theOriginalNetworkStandsBesideThePlan() {
    QTemporaryDir folder;
    const QString model = folder.filePath("model.onnx");
    test::writeModel(model, R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) {
  [pass] p = Identity (x) [mm] a = MatMul (p, w) [relu] r = Relu (a) [ask] s = Shape (r)
  [flat] f = Reshape (r, s) [last] y = Softmax (f) })");
    m_window->openFile(model);
    QTRY_VERIFY(document().snapshot() != nullptr && document().path() == model);
    m_window->actions().find("original")->trigger();
    QVERIFY(m_window->showsTwoViews());
    QTRY_VERIFY2(comparison().pair() != nullptr && comparison().scenes() != nullptr && !comparison().busy(),
                 qPrintable(comparison().problem()));
    QCOMPARE(comparison().a(), sides::kOriginal);
    QCOMPARE(comparison().b(), sides::kScreen);
    QVERIFY(comparison().pair()->causesFound && comparison().pair()->both.oneGraph);
    // What differs is said of nodes of the file and of kernels of the plan, with the reason where one is gone.
    QStringList words, details;
    for (int row = 0; row < views().differences().groupCount(); ++row) {
      words << views().differences().index(row, 0).data().toString();
      details << views().differences().index(row, 0).data(Qt::AccessibleTextRole).toString();
    }
    for (const char* word : {"removed", "folded"})
      QVERIFY2(words.filter(word).size() >= 1, qPrintable(words.join("; ")));
    QVERIFY2(words.filter("two nodes → one kernel").size() == 1, qPrintable(words.join("; ")));
    QVERIFY2(details.join(' ').contains("does nothing and is removed; what read its output now reads its input"),
             qPrintable(details.join("; ")));
    QVERIFY2(!details.join(' ').contains("not say why") && !details.join(' ').contains("cause"),
             qPrintable(details.join("; ")));
    // A node of the file is selected with what stands for it in the plan, and with the kernel that holds it.
    clickOn(views().viewOfA(), "relu");
    QCOMPARE(selectedNames(), QStringList{"relu"});
    QCOMPARE(views().viewOfB().selection(), QStringList{"relu"});
    m_window->selection().set({*document().snapshot()->graph().findNode("mm")});
    QCOMPARE(views().viewOfA().selection(), QStringList{"mm"});
    // One that is gone says what became of it, and why.
    clickOn(views().viewOfB(), "ask");
    QVERIFY(selectedNames().isEmpty());
    QVERIFY2(views().summary().startsWith("ask: folded") && views().summary().contains("extents that are known"),
             qPrintable(views().summary()));
    // It follows the plan.
    edit([&] { document().direct({"mm"}, DirectiveKind::Split); });
    QTRY_VERIFY(!comparison().busy() && comparison().pair() != nullptr);
    QTRY_VERIFY(comparison().pair()->b->artifact.plan == document().snapshot()->plan);
    QVERIFY(!comparison().pair()->groups.empty());
    for (const DifferenceGroup& group : comparison().pair()->groups) QVERIFY(group.topic != DifferenceTopic::Fusion);
    // Two of them cannot be compared, which is said.
    comparison().choose(sides::kOriginal, sides::kOriginal);
    QTRY_VERIFY2(comparison().problem().contains("both sides"), qPrintable(comparison().problem()));
  }

  // fp16_overflow in f32 and f16, by the baseline that is usual where nothing was edited.
  void typesDifferInWords() {
    open("fp16_overflow");
    edit([&] { document().setPrecisions({DataType::F16}); });
    m_window->twoViews().comparison().choose(sides::kBaseline, sides::kScreen);
    show();
    QTRY_VERIFY(comparison().pair()->causesFound);
    const auto& groups = comparison().pair()->groups;
    const auto types = std::ranges::find(groups, DifferenceTopic::Types, &DifferenceGroup::topic);
    QVERIFY(types != groups.end());
    QCOMPARE(qs(types->what), QStringLiteral("f32 → f16"));
    QCOMPARE(types->because, Causes{"--precision f32 → f16"});
    QVERIFY(wordsIn(views().viewOfA()).contains("there f16"));
    QVERIFY(wordsIn(views().viewOfB()).contains("there f32"));
    // Each side has its own types, and conversions that one side alone has are said on both.
    QVERIFY(!views().viewOfB().overlay()->conversions.isEmpty());
    for (auto it = views().viewOfB().overlay()->conversions.begin();
         it != views().viewOfB().overlay()->conversions.end(); ++it) {
      const CanvasOverlay::Conversion there = views().viewOfA().overlay()->conversions.value(it.key());
      QVERIFY((it->words == "only here") == there.words.startsWith("there "));
    }
    const auto box = [](GraphView& view, const QString& name) {
      return view.scene()->items[std::size_t(view.scene()->itemOf(name))];
    };
    const QString name = qs(types->sites.front().nodes.front());
    QCOMPARE(box(views().viewOfA(), name).precision, DataType::F32);
    QCOMPARE(box(views().viewOfB(), name).precision, DataType::F16);
    // Swapped, each says what the other said.
    views().swap();
    QTRY_VERIFY(comparison().pair() != nullptr && comparison().pair()->a->id == sides::kScreen);
    QVERIFY(wordsIn(views().viewOfA()).contains("there f32"));
  }

  // bert_tiny in f16, before and after a pin.
  void aPinIsTheCauseOfWhatItDoes() {
    open("bert_tiny");
    edit([&] { document().setPrecisions({DataType::F16}); });
    const Plan& plan = *document().snapshot()->plan;
    const auto wide = std::ranges::find_if(plan.fusedNodes, [](const FusedNode& fused) {
      return fused.compute == DataType::F16 && fused.kind == "matmul";
    });
    QVERIFY(wide != plan.fusedNodes.end());
    const std::string node = plan.graph().node(wide->root).name;
    edit([&] { document().pin({node}, DataType::F32, Strictness::Obey); });
    show();
    QCOMPARE(comparison().a(), sides::kBefore);
    QTRY_VERIFY(comparison().pair()->causesFound);
    const auto& groups = comparison().pair()->groups;
    QVERIFY(!groups.empty());
    const auto named = std::ranges::count_if(groups, [&](const DifferenceGroup& group) {
      return !group.because.empty() && group.because.front().find("--pin " + node) != std::string::npos;
    });
    QVERIFY2(named > 0, groups.front().because.empty() ? "no cause" : groups.front().because.front().c_str());
    QVERIFY(std::ranges::count(views().viewOfA().overlay()->items, DiffSign::Equal) >
            std::ranges::count(views().viewOfA().overlay()->items, DiffSign::Changed));
  }

  // digits in f32 and int8: quantisers are nodes that one side alone has.
  void nodesOfOneSideAreDrawnAsSuch() {
    QVERIFY(test::openInCodes(*m_window));
    show();
    QCOMPARE(comparison().a(), sides::kBefore);
    QVERIFY(!comparison().pair()->both.oneGraph);
    QVERIFY2(views().summary().contains("the networks differ in their nodes"), qPrintable(views().summary()));
    const auto count = [&](GraphView& view, DiffSign sign) { return std::ranges::count(view.overlay()->items, sign); };
    QVERIFY(count(views().viewOfB(), DiffSign::OnlyHere) > 0);
    QCOMPARE(count(views().viewOfB(), DiffSign::OnlyHere), count(views().viewOfA(), DiffSign::OnlyThere));
    QVERIFY(wordsIn(views().viewOfA()).contains("only in B"));
    const auto& groups = comparison().pair()->groups;
    QVERIFY(std::ranges::any_of(groups, [](const DifferenceGroup& group) {
      return group.topic == DifferenceTopic::Network && group.sign == '+' && group.what.find("Quantize") == 0;
    }));
  }

  void equalPlansDifferInNothing() {
    open("fp16_overflow");
    show();  // float32 without directives is the plan on screen
    QCOMPARE(comparison().pair()->groups.size(), std::size_t(0));
    QCOMPARE(views().summary(), QStringLiteral("Nothing differs."));
    QVERIFY(wordsIn(views().viewOfA()).isEmpty());
    QCOMPARE(currentRow(), -1);
    QTest::keyClick(&views().viewOfA(), Qt::Key_N);
    QCOMPARE(currentRow(), -1);
  }

  void twoRunsAreComparedAndADamagedOneSaysSo() {
    open("fp16_overflow");
    const std::string first = addRun({});
    edit([&] { document().setPrecisions({DataType::F16}); });
    const std::string second = addRun(document().options());
    show();
    QCOMPARE(comparison().a(), sides::ofRun(first));
    QCOMPARE(comparison().b(), sides::ofRun(second));
    QVERIFY(!comparison().pair()->groups.empty());
    // A run whose directives name nothing of the network has no plan.
    PlanOptions broken;
    broken.directives = {parsePin("no_such_node=f16").value()};
    const std::string damaged = addRun(broken);
    QComboBox* chooser = views().findChildren<QComboBox*>().first();
    for (QComboBox* each : views().findChildren<QComboBox*>())
      if (each->accessibleName() == "Plan B") chooser = each;
    const int place = chooser->findData(sides::ofRun(damaged));
    QVERIFY(place >= 0);
    chooser->setCurrentIndex(place);
    emit chooser->activated(place);
    QTRY_VERIFY(!comparison().busy());
    QVERIFY(comparison().pair() == nullptr);
    QVERIFY2(views().summary().contains("no_such_node"), qPrintable(views().summary()));
    QCOMPARE(views().differences().groupCount(), 0);
    // The other sides are still there to be chosen.
    comparison().choose(sides::ofRun(first), sides::kScreen);
    QTRY_VERIFY(comparison().pair() != nullptr);
  }

  void f4GoesThereAndBack() {
    open("squeezenet1_1");
    m_window->canvas().setZoom(0.5);
    const Camera before = m_window->canvas().camera();
    QTest::keyClick(&m_window->canvas(), Qt::Key_F4);
    QVERIFY(m_window->showsTwoViews());
    QVERIFY(views().isVisible());
    QTRY_VERIFY(comparison().pair() != nullptr);
    QTest::keyClick(&views().viewOfA(), Qt::Key_F4, Qt::ShiftModifier);
    QVERIFY(views().isAbove());
    QTRY_VERIFY(views().viewOfB().mapTo(&views(), QPoint()).y() > views().viewOfA().mapTo(&views(), QPoint()).y());
    QTest::keyClick(&views().viewOfA(), Qt::Key_F4);
    QVERIFY(!m_window->showsTwoViews());
    QVERIFY(m_window->canvas().isVisible());
    QVERIFY(m_window->canvas().camera() == before);
    // An edit while they are hidden starts no comparison.
    edit([&] { document().setPrecisions({DataType::F16}); });
    QVERIFY(!comparison().busy());
  }

  void theStateOfTheViewsIsKept() {
    open("fp16_overflow");
    comparison().choose(sides::kScreen, sides::kBaseline);
    views().setAbove(true);
    const Json state = views().state();
    QVERIFY(state["shown"] == false);
    views().setAbove(false);
    comparison().choose(sides::kBaseline, sides::kScreen);
    views().restore(state);
    QVERIFY(views().isAbove());
    QCOMPARE(comparison().a(), sides::kScreen);
    QCOMPARE(comparison().b(), sides::kBaseline);
    views().restore(Json{{"a", 3}, {"above", "x"}});
    QVERIFY(!views().isAbove());
    QCOMPARE(comparison().a(), sides::kScreen);
  }

 private:
  static void clickOn(GraphView& view, const QString& node) {
    view.fit();
    const QRect box = view.itemRect(node);
    QVERIFY2(!box.isEmpty(), qPrintable(node));
    QTest::mouseClick(&view, Qt::LeftButton, {}, box.center());
  }
  PlanDocument& document() { return m_window->document(); }
  TwoViews& views() { return m_window->twoViews(); }
  PlanComparison& comparison() { return views().comparison(); }

  void open(const QString& name) { QVERIFY(test::openSample(*m_window, name)); }
  template <class Edit>
  void edit(Edit change) {
    change();
    QTRY_VERIFY(!document().planning());
  }
  void show() {
    m_window->actions().find("two_views")->trigger();
    QVERIFY(m_window->showsTwoViews());
    QTRY_VERIFY(!comparison().busy());
    QVERIFY2(comparison().pair() != nullptr, qPrintable(comparison().problem()));
  }
  QStringList wordsIn(GraphView& view) {
    QStringList words = view.overlay()->words.values();
    words.removeDuplicates();
    return words;
  }
  QModelIndex rowOf(const QString& what) {
    for (int row = 0; row < views().differences().groupCount(); ++row)
      if (const QModelIndex index = views().differences().index(row, 0); index.data().toString() == what) return index;
    return {};
  }
  int currentRow() {
    const QModelIndex now = views().list().currentIndex();
    return now.isValid() ? now.row() : -1;
  }
  QStringList selectedNames() {
    QStringList names;
    for (const std::string& name : document().namesOf(m_window->selection().nodes())) names << qs(name);
    return names;
  }
  std::string addRun(const PlanOptions& options) {
    Run run{.name = "a run", .state = RunState::Ready};
    run.model = document().modelFile().identity();
    run.options = options;
    return m_window->runs().add(run);
  }

  std::unique_ptr<MainWindow> m_window;
};

FUSESCOPE_GUI_TEST(TwoViewsTest, 12)
#include "two_views_test.moc"
