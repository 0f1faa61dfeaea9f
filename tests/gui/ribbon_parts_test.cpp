#include <QtTest>

#include "base/json.h"
#include "ir/graph.h"
#include "session/documents/bisect_report.h"
#include "session/worker_protocol.h"
#include "tests/gui/gui_support.h"
#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon.h"
#include "ui/ribbon/ribbon_bands.h"

using namespace fusescope;

namespace {

/// A lane without segments and blocks.
LaneShape plainShape(std::vector<double> widths) {
  LaneShape shape{.widths = std::move(widths)};
  shape.segments.assign(shape.widths.size(), -1);
  shape.blocks.assign(shape.widths.size(), {});
  return shape;
}

RibbonRow rowOfWidths(const std::vector<double>& widths) {
  std::vector<RibbonBar> bars;
  double at = 0;
  for (const double width : widths) {
    const auto place = static_cast<std::uint32_t>(bars.size());
    bars.push_back({at, at + width, static_cast<std::int32_t>(place), place, place + 1});
    at += width;
  }
  return {RibbonRow::Kind::Kernels, 0, std::move(bars)};
}

}  // namespace

/// The parts of the ribbon, without a window: widths, groups of lanes, places, rows and progress.
class RibbonPartsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() { test::catchWarnings(); }
  void cleanup() { QCOMPARE(test::takeWarnings(), QStringList()); }

  void whatHasNoTimeIsAsWideAsItsWorkAtTheRateOfOthers() {
    const std::vector<KernelCost> kernels{{2.0, 200, 1}, {std::nullopt, 100, 1}, {4.0, 400, 1}, {std::nullopt, 0, {}}};
    QCOMPARE(basisOf({kernels}, RibbonWidth::Time), WidthBasis::Time);
    const KernelWidths widths = kernelWidths(kernels, WidthBasis::Time);
    QCOMPARE(widths.of[0], 2.0);
    QCOMPARE(widths.of[1], 1.0);
    QCOMPARE(widths.of[2], 4.0);
    QVERIFY(widths.of[3] > 0 && widths.of[3] < 0.001);
    QCOMPARE(widths.unknown, std::size_t(2));
  }

  void withoutATimeInEachLaneWidthsAreWork() {
    const std::vector<KernelCost> timed{{2.0, 200, 1}}, untimed{{std::nullopt, 100, 1}, {std::nullopt, 0, 50}};
    QCOMPARE(basisOf({timed, untimed}, RibbonWidth::Time), WidthBasis::Work);
    QCOMPARE(kernelWidths(untimed, WidthBasis::Work).of, (std::vector<double>{100, 50}));
    QCOMPARE(basisOf({timed, untimed}, RibbonWidth::Bytes), WidthBasis::Bytes);
    QCOMPARE(basisOf({{KernelCost{}}}, RibbonWidth::Time), WidthBasis::Even);
    QCOMPARE(basisOf({timed}, RibbonWidth::Even), WidthBasis::Even);
  }

  void whereMostKernelsHaveNoWidthAllAreAsWide() {
    std::vector<KernelCost> kernels(97);
    kernels.front() = {2.0, 100, 1};
    for (const RibbonWidth wanted : {RibbonWidth::Time, RibbonWidth::Bytes})
      QCOMPARE(basisOf({kernels}, wanted), WidthBasis::Even);
    std::fill(kernels.begin(), kernels.begin() + 48, KernelCost{{}, 100, 1});
    QCOMPARE(basisOf({kernels}, RibbonWidth::Time), WidthBasis::Even);
    kernels[48] = {{}, 100, 1};
    QCOMPARE(basisOf({kernels}, RibbonWidth::Time), WidthBasis::Work);
  }

  void narrowBarsAreGatheredAndWideOnesStandAlone() {
    std::vector<double> widths(100'000, 0.001);
    widths[40'000] = 50;
    const RibbonRow row = rowOfWidths(widths);
    const auto all = row.stretches(0, 150, 0.3, nullptr);
    QCOMPARE(all.size(), std::size_t(3));
    QCOMPARE(all[0].last, 40'000U);
    QVERIFY(all[1].isSingle && !all[0].isSingle && !all[2].isSingle);
    QCOMPARE(all[2].last, 100'000U);
    QCOMPARE(row.barAt(60), 40'000);
    QCOMPARE(row.barAt(-1), -1);
    // Blocks that are wide enough themselves are gathered apart.
    const RibbonRow blocks(RibbonRow::Kind::Blocks, 0,
                           {{0, 20, 0, 0, 20'000}, {20, 40, 1, 20'000, 40'000}, {90, 150, 2, 40'000, 100'000}});
    const auto apart = row.stretches(0, 150, 0.3, &blocks);
    QCOMPARE(apart.size(), std::size_t(4));
    QCOMPARE(apart[0].last, 20'000U);
    QCOMPARE(apart[1].last, 40'000U);
  }

  void lanesStandUnderEachOtherByTheirSmallestCommonGroups() {
    // Three lanes: {0 1}{2}, {0}{1}{2} and {0}{1 2}; the thing 3 has a kernel in one lane alone.
    const LaneSets two{{{0, 1}, {2}}, {{0}, {1}, {3}, {2}}};
    const auto groups = groupLanes(two);
    QCOMPARE(groups.size(), std::size_t(3));
    QVERIFY(!groups[0].same);
    QCOMPARE(groups[0].kernels[0].size(), std::size_t(1));
    QCOMPARE(groups[0].kernels[1].size(), std::size_t(2));
    QVERIFY(groups[1].kernels[0].empty());  // what one lane alone has stands where that lane runs it
    QVERIFY(groups[2].same);
    const auto three = groupLanes({{{0, 1}, {2}}, {{0}, {1}, {2}}, {{0}, {1, 2}}});
    QCOMPARE(three.size(), std::size_t(1));
    QVERIFY(!three[0].same);
    QCOMPARE(three[0].kernels[1].size(), std::size_t(3));
  }

  void aGroupHasOnePlaceInAllLanesAndTheWiderOneDecides() {
    std::vector<LaneGroup> groups(2);
    groups[0].kernels = {{0}, {0, 1}};
    groups[1].kernels = {{1}, {2}};
    const RibbonLayout layout = layOutRibbon(groups, {plainShape({3, 5}), plainShape({2, 2, 1})});
    QCOMPARE(layout.total, 9.0);
    QCOMPARE(layout.groupBegin, (std::vector<double>{0, 4, 9}));
    QCOMPARE(layout.lanes[0].bars()[1].begin, 4.0);
    QCOMPARE(layout.lanes[1].bars()[2].begin, 4.0);
    QCOMPARE(layout.lanes[1].bars()[2].end, 5.0);
    QVERIFY(layout.above.empty());
  }

  void rowsAboveAreThoseThatTellSomethingApart() {
    const auto rowsOf = [](std::int32_t kernels) {
      LaneShape shape = plainShape(std::vector<double>(static_cast<std::size_t>(kernels), 1.0));
      std::vector<LaneGroup> groups;
      for (std::int32_t i = 0; i < kernels; ++i) {
        shape.blocks[static_cast<std::size_t>(i)] = {0, i + 1};  // each in a block of its own, all in one
        groups.push_back({.kernels = {{static_cast<std::uint32_t>(i)}}});
      }
      RibbonPicture picture{.lanes = std::vector<RibbonLane>(1), .layout = layOutRibbon(groups, {shape})};
      return rowsShown(picture, {0, picture.layout.total}, 80);
    };
    QCOMPARE(rowsOf(8), std::vector<std::size_t>{1});
    QCOMPARE(rowsOf(80), (std::vector<std::size_t>{0, 1}));  // blocks too narrow for words: what is around them, too
  }

  void progressNamesThePlaceAndNeverGoesBack() {
    const auto planned = test::planSample("squeezenet1_1");  // the picture refers to it
    const RibbonPicture picture = pictureOf(*planned);
    const auto nameOf = [&](std::uint32_t kernel) { return qs(picture.shown().fused(kernel).name); };
    ProgressFollower follower;
    const RibbonProgress at = follower.followRun(picture, "1", "kernels", nameOf(3), "building");
    QCOMPARE(at.words, QStringLiteral("kernels: at 4 of %1").arg(picture.shown().size()));
    QCOMPARE(*at.reached, picture.layout.lanes[0].bars()[3].end);
    QCOMPARE(*follower.followRun(picture, "1", "kernels", nameOf(1), "building").reached, *at.reached);
    const RibbonProgress silent = follower.followRun(picture, "1", "measure", "", "timing");
    QCOMPARE(silent.words, QStringLiteral("timing"));
    QVERIFY(!silent.reached);
    QVERIFY(*follower.followRun(picture, "1", "kernels", nameOf(1), "building").reached < *at.reached);
  }

  void aSearchForPinsTellsWhatItTries() {
    const auto planned = test::planSample("squeezenet1_1");  // the picture refers to it
    const RibbonPicture picture = pictureOf(*planned);
    ProgressFollower follower;
    const auto tell = [&](const char* phase, const Json& detail) {
      return follower.followDialog(picture, TuneSettings(), phase,
                                   qs(detail.is_string() ? detail.get<std::string>() : detail.dump()));
    };
    QVERIFY(tell("tune", "the network in float32").words.contains("the network in float32"));
    const auto nameOf = [&](std::uint32_t kernel) {
      const FusedNode& fused = picture.shown().fused(kernel);
      return picture.shown().snapshot->graph().node(fused.nodes.back()).name;
    };
    const RibbonProgress tried =
        tell(kTuneTryPhase, {{"evaluations", 41}, {"pins", 3}, {"nodes", {nameOf(2), nameOf(3), nameOf(7)}}});
    QVERIFY2(tried.words.contains("41 evaluations done, trying 3 pins"), qPrintable(tried.words));
    const auto& bars = picture.layout.lanes[0].bars();
    QCOMPARE(tried.tried.size(), std::size_t(2));  // neighbours are one
    QVERIFY((tried.tried[0] == RibbonRange{bars[2].begin, bars[3].end}));
    QVERIFY((tried.tried[1] == RibbonRange{bars[7].begin, bars[7].end}));
    const RibbonProgress better =
        tell(kTuneBetterPhase, {{"better", {{{"error", 0.004}, {"pins", 2}, {"casts", 4}, {"bytes", 64}}}}});
    QVERIFY2(better.words.contains("best so far: 2 pins, error 0.004") && better.words.contains("41 evaluations"),
             qPrintable(better.words));
    QCOMPARE(better.tried.size(), std::size_t(2));
    follower.endDialog();
    QVERIFY(!tell("tune", "sets of pins").words.contains("best"));
    // A calibration goes through kernels of the network in float32, which may have other names.
    const RibbonProgress calibrated =
        follower.followDialog(picture, CalibrateSettings(), "calibrate", qs(nameOf(5)) + " + other");
    QCOMPARE(*calibrated.reached, bars[5].end);
    follower.endDialog();
    // A search for what makes an output wrong goes through the network once for each build.
    const auto bisecting = [&](const char* phase, const QString& detail) {
      return follower.followDialog(picture, ErrorsSettings{.bisect = true}, phase, detail);
    };
    for (const auto& [build, kernel] : {std::pair("build 2", 5), std::pair("build 3", 1)}) {
      QVERIFY(!bisecting(kBisectPhase, build).reached);
      const RibbonProgress built = bisecting("kernels", qs(nameOf(kernel)));
      QCOMPARE(*built.reached, bars[std::size_t(kernel)].end);
      QCOMPARE(built.words,
               QStringLiteral("bisect, %1: kernels: at %2 of %3").arg(build).arg(kernel + 1).arg(bars.size()));
    }
  }

 private:
  static RibbonPicture pictureOf(const PlanSnapshot& snapshot) {
    LaneRequest request;
    const std::shared_ptr<const PlanSnapshot> shared(&snapshot, [](const PlanSnapshot*) {});
    return makePicture({makeLane(request, shared, CanvasFonts())}, RibbonWidth::Time);
  }
};

FUSESCOPE_GUI_TEST(RibbonPartsTest, 9)

#include "ribbon_parts_test.moc"
