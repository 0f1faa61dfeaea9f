// How quick the window is: stalls of the event loop, frames, what a node costs in memory, and how Graphviz' dot and the
// layered layout compare. Prints a table; see `window_benchmark help`.
#include <time.h>

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "base/process_memory.h"
#include "layout/drawing_quality.h"
#include "layout/level.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/benchmarks/dot_picture.h"
#include "tests/gui/gui_support.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/compare/plan_comparison.h"
#include "ui/compare/two_views.h"
#include "ui/dialogs/tune_dialog.h"
#include "ui/jobs/wait_until.h"
#include "ui/window/main_window.h"

namespace fusescope {
namespace {

constexpr double kStallMs = 50;
constexpr int kWaitMs = 300'000;
constexpr int kFrames = 120;
constexpr double kFrameZoom = 0.85;
constexpr int kTuneEvaluations = 4;
constexpr double kProportion = 1.41;  ///< of the canvas that layouts are for
constexpr int kDotSeconds = 60;
constexpr int kSettleMs = 100;  ///< in which a handler that puts off work has done it

/// Of the calling thread.
double threadCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The wall time and the thread's CPU time of each event that the loop delivers.
class StallMeter : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    if (m_depth > 0) return QApplication::notify(receiver, event);
    const QString who = QStringLiteral("%1, event %2").arg(receiver->metaObject()->className()).arg(event->type());
    QElapsedTimer wall;
    wall.start();
    const double cpu = threadCpuMs();
    ++m_depth;
    const bool handled = QApplication::notify(receiver, event);
    --m_depth;
    take(who, double(wall.nsecsElapsed()) / 1e6, threadCpuMs() - cpu);
    return handled;
  }
  void measure(const QString& who, const std::function<void()>& work) {
    QElapsedTimer wall;
    wall.start();
    const double cpu = threadCpuMs();
    ++m_depth;
    work();
    --m_depth;
    take(who, double(wall.nsecsElapsed()) / 1e6, threadCpuMs() - cpu);
  }
  void begin() { m_worstWall = m_worstCpu = m_stalls = 0; }
  void report(const char* network, const char* phase, double seconds, double cpuSeconds) {
    std::printf(
        "%-16s %-10s %7.2f s wall %7.2f s CPU   worst stall %7.1f ms wall %7.1f ms CPU   %3.0f above %.0f ms   %s\n",
        network, phase, seconds, cpuSeconds, m_worstWall, m_worstCpu, m_stalls, kStallMs, qPrintable(m_worst));
    std::fflush(stdout);
  }

 private:
  void take(const QString& who, double wall, double cpu) {
    if (wall > kStallMs) ++m_stalls;
    m_worstWall = std::max(m_worstWall, wall);
    if (cpu <= m_worstCpu) return;
    m_worstCpu = cpu;
    m_worst = who;
  }
  int m_depth = 0;
  double m_worstWall = 0, m_worstCpu = 0, m_stalls = 0;
  QString m_worst;  ///< by CPU: what another program took is not the window's
};

StallMeter& meter() {
  return *static_cast<StallMeter*>(qApp);
}

/// Of all threads of this process, in seconds.
double processCpu() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}

/// Physical memory that is no file's. What was freed may still be among it.
std::size_t residentBytes() {
  returnFreedMemory();
  const auto memory = processMemory();
  return memory ? static_cast<std::size_t>(memory->resident - memory->mapped) : 0;
}

void phase(const char* network, const char* name, const std::function<void()>& start,
           const std::function<bool()>& done) {
  meter().begin();
  QElapsedTimer clock;
  clock.start();
  const double cpu = processCpu();
  meter().measure(QString::fromLatin1(name), start);
  const bool finished = waitUntil(done, kWaitMs);
  meter().report(network, finished ? name : "NOT DONE", double(clock.elapsed()) / 1000, processCpu() - cpu);
}

/// While the camera of the first of `views` moves, which moves the others.
void frames(const char* network, const char* what, const std::vector<GraphView*>& views) {
  Camera camera = views.front()->camera();
  camera.zoom = kFrameZoom;
  std::vector<double> times;
  for (int i = 0; i < kFrames; ++i) {
    camera.origin += QPointF(i % 2 == 0 ? 3 : -3, 40);
    views.front()->setCamera(camera);
    QElapsedTimer clock;
    clock.start();
    for (GraphView* view : views) view->repaint();
    times.push_back(double(clock.nsecsElapsed()) / 1e6);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-16s %-10s median %.1f ms   p95 %.1f ms   (%d of them, zoom %.2f)\n", network, what,
              times[times.size() / 2], times[times.size() * 95 / 100], kFrames, camera.zoom);
}

void open(const char* network, MainWindow& window, const QString& path) {
  bool laidOut = false;
  const auto connection = QObject::connect(&window.canvas(), &GraphView::layoutFinished, &window,
                                           [&laidOut](const QString&, double) { laidOut = true; });
  phase(
      network, "open", [&] { window.openFile(path); },
      [&] { return laidOut && window.document().snapshot() && window.jobs().idle(); });
  QObject::disconnect(connection);
}

/// A change of the theme, and what it puts off until the next turns of the event loop.
void themes(const char* network, MainWindow& window, ThemeKind kind) {
  QElapsedTimer clock;
  phase(
      network, "theme",
      [&] {
        window.setTheme(kind);
        clock.start();
      },
      [&] { return clock.elapsed() > kSettleMs; });
}

/// What the window holds of a network beyond model and plan, which are made once more for that: at most, since they may
/// lie in memory that was freed before.
void memory(const char* network, const QString& path, std::size_t before, std::size_t nodes) {
  const std::size_t all = residentBytes();
  const auto model = openModel(path.toStdString());
  if (!model.ok()) return void(std::printf("%s: %s\n", network, model.error().text().c_str()));
  const auto plan = makePlan(model.value(), {});
  if (!plan.ok()) return void(std::printf("%s: %s\n", network, plan.error().text().c_str()));
  const double ofModel = double(residentBytes()) - double(all), ofAll = double(all) - double(before);
  std::printf("%-16s memory     %.0f bytes a node beyond model and plan, which take %.0f (%zu nodes)\n", network,
              (ofAll - ofModel) / double(nodes), ofModel / double(nodes), nodes);
}

/// The first block that is closed at rest and stands in none that is.
void openBlock(const char* network, MainWindow& window) {
  const auto snapshot = window.document().snapshot();
  for (const CoverBlock& block : snapshot->blocks->all()) {
    const QString handle = QString::fromStdString(snapshot->blocks->handleOf(*snapshot->cover, block));
    if (window.canvas().isOpen(handle)) continue;
    for (const char* what : {"block", "close"})
      phase(
          network, what, [&] { window.canvas().toggle(handle); },
          [&] { return window.canvas().waitForLayout(kWaitMs); });
    return;
  }
}

void openContainer(const char* network, MainWindow& window) {
  for (const FusedNode& fused : window.document().snapshot()->plan->fusedNodes) {
    if (fused.nodes.size() < 2) continue;
    const QString name = QString::fromStdString(fused.name);
    const auto waits = [&] { return window.canvas().waitForLayout(kWaitMs); };
    for (const char* what : {"container", "close", "again"}) {
      const std::size_t before = window.canvas().levelsLaidOut();
      phase(
          network, what, [&] { window.canvas().toggle(name); }, waits);
      std::printf("%-16s %-10s %zu levels laid out\n", network, what, window.canvas().levelsLaidOut() - before);
    }
    return;
  }
}

void build(const char* network, MainWindow& window) {
  const auto idle = [&window] { return !window.controller().busy(); };
  phase(
      network, "build", [&] { window.actions().find("build")->trigger(); }, idle);
  if (!window.controller().problem().isEmpty())
    return void(std::printf("  %s\n", qPrintable(window.controller().problem())));
  window.actions().find("build")->trigger();
  waitUntil([&] { return window.controller().activity().contains(QLatin1String("kernels")) || idle(); }, kWaitMs);
  phase(
      network, "cancel", [&] { window.controller().cancel(); }, idle);
  phase(
      network, "compare", [&] { window.actions().find("build_both")->trigger(); }, idle);
  if (!window.controller().problem().isEmpty()) std::printf("  %s\n", qPrintable(window.controller().problem()));
}

void tune(const char* network, MainWindow& window) {
  window.tune();
  auto* dialog = window.findChild<TuneDialog*>();
  dialog->evaluations().setValue(kTuneEvaluations);
  phase(
      network, "tune", [&] { dialog->startButton().click(); }, [&] { return !dialog->working(); });
  std::printf("%-16s %-10s %s\n", network, "", qPrintable(dialog->said().section('\n', 0, 0)));
  dialog->close();
}

/// The plan in f16, which stays, beside the plan before: from the key to both pictures.
void twoViews(const char* network, MainWindow& window) {
  window.document().setPrecisions({DataType::F16});
  const auto shown = [&] { return !window.document().planning() && window.jobs().idle(); };
  if (!waitUntil(shown, kWaitMs) || !window.canvas().waitForLayout(kWaitMs)) return;
  TwoViews& views = window.twoViews();
  PlanComparison& comparison = views.comparison();
  phase(
      network, "two views", [&] { window.actions().find("two_views")->trigger(); },
      [&] { return !comparison.busy() && comparison.scenes() && views.viewOfA().scene() == comparison.scenes()->a; });
  std::printf("%-16s %-10s %zu groups differ, %d boxes\n", network, "",
              comparison.pair() ? comparison.pair()->groups.size() : 0, views.viewOfA().boxCount());
  frames(network, "two frames", {&views.viewOfA(), &views.viewOfB()});
  waitUntil([&] { return window.jobs().idle(); }, kWaitMs);
  window.actions().find("two_views")->trigger();
}

void window(const char* network, const QString& path, bool builds) {
  const QTemporaryDir sessions;
  MainWindow window(ThemeKind::Dark, false);
  window.keepSessionsIn(sessions.path());
  window.resize(1920, 1080);
  window.show();
  QCoreApplication::processEvents();
  const std::size_t before = residentBytes();
  open(network, window, path);
  if (!window.document().snapshot()) return;
  memory(network, path, before, window.document().snapshot()->graph().nodeCount());
  frames(network, "frame", {&window.canvas()});
  for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark}) themes(network, window, kind);
  openBlock(network, window);
  openContainer(network, window);
  twoViews(network, window);
  if (!builds) return;
  build(network, window);
  tune(network, window);
}

QString networkName(const QString& path) {
  const QFileInfo file(path);
  const QString base = file.fileName().section('.', 0, 0);
  return base == QLatin1String("model") ? file.dir().dirName() : base;
}

/// Gives `each` the graphs that are laid out of a network, closed, and with all that can be opened open, once their
/// sizes are printed.
void forLayoutGraphs(const QString& path, const std::function<void(const LayoutGraph&)>& each) {
  const auto model = openModel(path.toStdString());
  if (!model.ok()) return void(std::printf("%s\n", model.error().text().c_str()));
  const auto plan = makePlan(model.value(), {});
  if (!plan.ok()) return void(std::printf("%s\n", plan.error().text().c_str()));
  const CanvasFonts fonts;
  const CanvasScene closed = buildCanvas(*plan.value(), {}, fonts);
  for (const bool opened : {false, true}) {
    const LayoutGraph graph = layoutGraphOf(opened ? buildCanvas(*plan.value(), allOpen(closed), fonts) : closed);
    std::printf("%-24s %-6s %5zu boxes %5zu edges", qPrintable(networkName(path)), opened ? "open" : "closed",
                graph.boxes.size(), graph.edges.size());
    each(graph);
    std::fflush(stdout);
  }
}

/// The layered layout of a network's levels, and with dot where that crosses less: closed, and with all that can be
/// opened open.
void layouts(const QString& path) {
  forLayoutGraphs(path, [](const LayoutGraph& graph) {
    int asked = 0;
    double askedMs = 0;
    for (const bool dot : {false, true}) {
      LayoutOptions options{.proportion = kProportion};
      const auto askDot = [&](const LevelGraph& level) {
        QElapsedTimer clock;
        clock.start();
        auto drawn = layOutWithDot(level);
        ++asked;
        askedMs += double(clock.nsecsElapsed()) / 1e6;
        return drawn;
      };
      if (dot) options.dot = askDot;
      const double before = threadCpuMs();
      const auto geometry = layOut(graph, options);
      const double ms = threadCpuMs() - before;
      if (!geometry.ok()) continue;
      const DrawingQuality drawn = qualityOf(geometry.value().edges);
      std::printf("   %s: %6.0f x %6.0f px %5zu crossings %4zu at borders %9.0f px %5zu bends %7.1f ms",
                  dot ? "with dot" : "layered", geometry.value().width, geometry.value().height, drawn.crossings,
                  crossingsAtBorders(graph, geometry.value()), drawn.length, drawn.bends, ms);
    }
    std::printf("   dot asked %d times, %.1f ms\n", asked, askedMs);
  });
}

/// Crossings of the picture that the window draws, and of the one that dot draws of the same graph as a whole, counted
/// alike: as at rest, and with all that can be opened open.
void crossings(const QString& dot, const QString& path) {
  forLayoutGraphs(path, [&](const LayoutGraph& graph) {
    for (const double proportion : {kProportion, 0.0}) {
      const auto drawn = layOut(graph, {.dot = layOutWithDot, .proportion = proportion});
      const std::size_t ours = drawn.ok() ? qualityOf(inPieces(drawn.value().edges)).crossings : 0;
      std::printf("   %s %5zu", proportion > 0 ? "crossings" : "not wrapped", ours);
    }
    std::fflush(stdout);
    std::fflush(stdout);
    const auto edges = edgesByDot(dot, graph, kDotSeconds);
    if (edges) std::printf("   dot %5zu\n", qualityOf(inPieces(*edges)).crossings);
    if (!edges) std::printf("   dot: not in %d s\n", kDotSeconds);
  });
}

int run(const QStringList& arguments) {
  const QString what = arguments.value(1, QStringLiteral("help"));
  const QTemporaryDir folder;
  if (what == QLatin1String("window") && arguments.size() > 2) {
    window(qPrintable(networkName(arguments[2])), arguments[2], arguments.contains("--build"));
  } else if (what == QLatin1String("generated") && arguments.size() > 2) {
    const int nodes = arguments[2].toInt();
    window(qPrintable(QString::number(nodes)), test::writeResidualChain(folder.path(), nodes),
           arguments.contains("--build"));
  } else if (what == QLatin1String("layouts")) {
    for (int i = 2; i < arguments.size(); ++i) layouts(arguments[i]);
  } else if (what == QLatin1String("crossings")) {
    const QString dot = dotProgram();
    if (dot.isEmpty()) return std::printf("crossings: skipped, since Graphviz' program dot is not on the PATH\n"), 0;
    for (int i = 2; i < arguments.size(); ++i) crossings(dot, arguments[i]);
  } else {
    std::printf(
        "window_benchmark window MODEL [--build]\nwindow_benchmark generated NODES [--build]\n"
        "window_benchmark layouts MODEL…\nwindow_benchmark crossings MODEL…\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  fusescope::StallMeter application(argc, argv);
  return fusescope::run(QCoreApplication::arguments());
}
