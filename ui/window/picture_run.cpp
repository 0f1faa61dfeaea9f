#include "ui/window/picture_run.h"

#include <QApplication>
#include <QPixmap>
#include <cstdio>

#include "planning/fused_node_facts.h"
#include "ui/canvas/color_mode.h"
#include "ui/compare/two_views.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/wait_until.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

constexpr double kLegibleZoom = 0.9;  ///< below this zoom, a box does not show all of its lines
constexpr double kLeastZoom = 0.3;    ///< below this zoom, a box shows no name
constexpr int kOpenMs = 120'000, kLayoutMs = 120'000, kBuildMs = 600'000, kSettleMs = 400;

void settle() {
  waitUntil([] { return false; }, kSettleMs);
}

int refuse(const QString& problem) {
  std::fprintf(stderr, "fusescope-gui: %s\n", problem.toUtf8().constData());
  return 2;
}

/// Shows the selected node at a legible size, or what was opened. Otherwise the view stays as it is after opening a
/// model.
void frameContent(MainWindow& window, const PictureRequest& request) {
  GraphView& canvas = window.canvas();
  if (!request.expand.isEmpty()) canvas.fit();
  // If the whole picture would be too narrow to show anything, what was opened last is shown.
  const bool thread = canvas.zoom() < kLeastZoom;
  if (!request.expand.isEmpty() && thread && request.select.isEmpty()) {
    Camera camera = canvas.camera();
    const QPointF opened = camera.toScene(canvas.itemRect(request.expand.last()).center());
    camera.zoom = kLegibleZoom;
    camera.centreOn(opened, canvas.size());
    canvas.setCamera(camera);
  }
  if (request.select.isEmpty() || canvas.zoom() >= kLegibleZoom) return;
  canvas.setZoom(kLegibleZoom);
  canvas.centreSelection();
}

}  // namespace

int takePicture(MainWindow& window, const PictureRequest& request) {
  window.resize(request.size);
  window.show();
  if (!request.model.isEmpty()) {
    QString problem;
    QObject::connect(&window.document(), &PlanDocument::openFailed, &window,
                     [&problem](const QString&, const QString& text) { problem = text; });
    QObject::connect(&window.session(), &SessionKeeper::failed, &window,
                     [&problem](const QString&, const QString& text) { problem = text; });
    window.session().open(request.model, request.options);
    if (!waitUntil([&] { return window.document().snapshot() || !problem.isEmpty(); }, kOpenMs))
      return refuse(QStringLiteral("opening the model took too long"));
    if (!problem.isEmpty()) return refuse(problem);
    if (!window.canvas().waitForLayout(kLayoutMs)) return refuse(QStringLiteral("the layout took too long"));
    for (const QString& node : request.expand) {
      const auto nodes = window.document().snapshot()->nodesNamed(node.toStdString());
      if (nodes.empty() && !window.document().snapshot()->inside(node.toStdString()))
        return refuse(QStringLiteral("--expand %1: the plan has nothing of that name").arg(node));
      const FusedNode* fused = nodes.empty() ? nullptr : window.document().snapshot()->fusedOf(nodes.front());
      window.canvas().expand(fused ? qs(handleOf(*fused)) : node);
      window.canvas().waitForLayout(kLayoutMs);
    }
    if (const ColorMode* mode = findColorMode(request.color.toStdString())) window.canvas().setColorMode(*mode);
    if (!request.select.isEmpty()) {
      const std::string name = request.select.toStdString();
      const auto nodes = window.document().snapshot()->nodesNamed(name);
      const auto inside = window.document().snapshot()->inside(name);
      if (nodes.empty() && !inside)
        return refuse(QStringLiteral("--select %1: the plan has nothing of that name").arg(request.select));
      selectNamed(window.selection(), *window.document().snapshot(), {request.select});
      window.canvas().waitForLayout(kLayoutMs);
    }
    frameContent(window, request);
    if (!request.inputs.empty()) window.setInputs(request.inputs);  // otherwise the inputs of the sample are used
    if (request.errors) {
      const QString refusal = window.controller().errorsRefusal();
      if (!refusal.isEmpty()) return refuse(refusal);
      window.controller().evaluateErrors();
      if (!waitUntil([&] { return !window.controller().busy(); }, kBuildMs))
        return refuse(QStringLiteral("evaluating took too long"));
      if (!window.controller().problem().isEmpty()) return refuse(window.controller().problem());
    }
    if (request.build) {
      const QString refusal = window.controller().buildRefusal();
      if (!refusal.isEmpty()) return refuse(refusal);
      const std::string& compiler = window.document().options().compiler;
      if (window.controller().compilers().whyNot(compiler, Ability::Run).isEmpty()) {
        window.controller().buildBoth();
      } else {
        window.controller().build();
      }
      if (!waitUntil([&] { return !window.controller().busy(); }, kBuildMs))
        return refuse(QStringLiteral("the build took too long"));
      if (!window.controller().problem().isEmpty()) return refuse(window.controller().problem());
    }
  }
  if (request.twoViews || request.original) {
    request.original ? window.showOriginal() : window.showTwoViews(true);
    const PlanComparison& comparison = window.twoViews().comparison();
    const auto there = [&] {
      return !comparison.busy() && (comparison.pair() == nullptr || comparison.pair()->causesFound);
    };
    if (!waitUntil(there, kLayoutMs)) return refuse(QStringLiteral("comparing took too long"));
    if (!comparison.problem().isEmpty()) return refuse(comparison.problem());
  }
  window.resize(request.size);
  if (!request.dock.isEmpty() && !window.showDock(request.dock)) {
    return refuse(
        QStringLiteral("--dock %1: there are %2").arg(request.dock, window.dockNames().join(QStringLiteral(", "))));
  }
  settle();
  window.canvas().waitForLayout(kLayoutMs);
  waitUntil([&] { return window.jobs().idle(); }, kOpenMs);
  settle();
  if (window.size() != request.size) {
    return refuse(QStringLiteral("--size %1x%2: the window needs at least %3x%4")
                      .arg(request.size.width())
                      .arg(request.size.height())
                      .arg(window.width())
                      .arg(window.height()));
  }
  if (!window.grab().save(request.output)) return refuse(QStringLiteral("%1 cannot be written").arg(request.output));
  return 0;
}

}  // namespace fusescope
