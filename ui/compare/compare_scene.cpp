#include "ui/compare/compare_scene.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/compare/compare_overlay.h"
#include "ui/compare/side_scene.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostOpenedGroups = 100;
/// initialStates() may open more than there is room for, and no layout is made here to check it.
constexpr double kSureOfRoom = 0.8;

/// Returns the groups whose kernels differ and that have more than one node, so that opening them shows something.
QStringList differingGroups(const UnionCover& both) {
  QStringList handles;
  const UnionLevel& level = both.levels.front();
  for (std::size_t g = 0; g < level.groups.size(); ++g)
    if (!level.groups[g].same && level.cover->fusedNodes[g].nodes.size() > 1)
      handles << QString::fromStdString(handleOf(level.cover->fusedNodes[g]));
  return handles;
}

/// Makes boxes as wide as either side needs.
void makeRoom(CanvasScene& scene, const SideScene& side) {
  for (const auto& [i, own] : side.items()) {
    CanvasItem& item = scene.items.edit(std::size_t(i));
    if (item.isBox()) item.size.setWidth(std::max(item.size.width(), own.size.width()));
  }
}

/// Returns the scene of the union with the items and words of one side.
std::shared_ptr<const CanvasScene> sceneOf(const CanvasScene& scene, SideScene& side, const CompareOverlay& overlay) {
  auto own = std::make_shared<CanvasScene>(scene);
  for (const auto& [i, said] : side.items()) {
    CanvasItem& item = own->items.edit(std::size_t(i));
    CanvasItem replaced = said;
    replaced.kind = item.kind;
    replaced.container = item.container;
    replaced.key = item.key;
    replaced.name = item.name;
    replaced.stubs = item.stubs;
    replaced.segment = item.segment;
    replaced.parent = item.parent;
    replaced.open = item.open;
    replaced.canOpen = item.canOpen;
    replaced.edgesIn = item.edgesIn;
    replaced.edgesOut = item.edgesOut;
    replaced.size = item.size;
    item = std::move(replaced);
  }
  for (const auto& [i, title] : overlay.titles()) {
    CanvasItem& item = own->items.edit(std::size_t(i));
    item.title = title;
  }
  const std::vector<const CanvasEdge*> edges = side.edges(scene);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    CanvasEdge& edge = own->edges.edit(e);
    if (edges[e] != nullptr) {
      edge = *edges[e];
    } else {
      edge.label.clear();
      edge.cast.clear();
      edge.tooltip = QStringLiteral("Only the other side has this edge.");
    }
  }
  return own;
}

}  // namespace

OpenState openWhereDifferent(const UnionCover& both, const std::shared_ptr<const CoverParts>& parts,
                             const QSizeF& room) {
  OpenState open = initialStates(*parts, kSureOfRoom * room).back();
  const QStringList differing = differingGroups(both);
  if (differing.isEmpty() || std::size_t(differing.size()) > kMostOpenedGroups) return open;
  const CanvasScene scene = buildCanvas(parts, open);
  for (const QString& handle : differing) {
    QString around = handle;
    while (const auto container = scene.container(around)) {
      open.set(*container->kind, around, true);
      around = container->within;
    }
  }
  return open;
}

Result<std::shared_ptr<const ComparedScenes>> comparedScenes(const Compared& compared, const OpenState& open,
                                                             const CanvasFonts& fonts, const LayoutOptions& options) {
  BuiltCanvas built = buildCanvasWithLevels(compared.parts, open);
  SideScene a(compared.both, built, true, fonts), b(compared.both, built, false, fonts);
  const DifferenceIndex words(compared.groups);
  CompareOverlay overlayOfA(compared, words, built, a, b, true), overlayOfB(compared, words, built, b, a, false);
  makeRoom(built.scene, a);
  makeRoom(built.scene, b);
  for (const auto& [i, title] : overlayOfA.titles()) {
    CanvasItem& item = built.scene.items.edit(std::size_t(i));
    item.title = title;
    if (item.open) built.fusedAt[std::size_t(i)].level->items.size(item);
  }
  TRY(applyGeometry(built.scene, TRY(layOut(layoutGraphOf(built.scene), options))));
  auto scenes = std::make_shared<ComparedScenes>();
  scenes->open = open;
  scenes->a = sceneOf(built.scene, a, overlayOfA);
  scenes->b = sceneOf(built.scene, b, overlayOfB);
  scenes->overlayOfA = overlayOfA.make(*scenes->a, *scenes->b);
  scenes->overlayOfB = overlayOfB.make(*scenes->b, *scenes->a);
  return std::shared_ptr<const ComparedScenes>(std::move(scenes));
}

}  // namespace fusescope
