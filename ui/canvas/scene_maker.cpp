#include "ui/canvas/scene_maker.h"

#include "planning/fused_node_facts.h"
#include "ui/canvas/opened_scene.h"

namespace fusescope {
namespace {

Status layOutScene(CanvasScene& scene, const LayoutOptions& options) {
  scene.proportion = options.proportion;
  return applyGeometry(scene, TRY(layOut(layoutGraphOf(scene), options)));
}

/// Collects the handles of the fused nodes that contain bodies, also inside bodies.
void addHolders(const Cover& cover, const BodyPath& path, QSet<QString>& holders) {
  if (cover.bodies.empty()) return;
  for (const FusedNode& fused : cover.fusedNodes)
    if (containsBodies(cover, fused)) holders.insert(QString::fromStdString(path.exactly(handleOf(fused))));
  for (const CoverBody& body : cover.bodies)
    addHolders(*body.cover, path.into(cover.graph().node(body.holder), body.attribute), holders);
}

}  // namespace

std::shared_ptr<const CoverParts> SceneMaker::partsOf(const std::shared_ptr<const Cover>& cover,
                                                      const std::shared_ptr<const ModuleTree>& modules) {
  if (m_parts == nullptr || &m_parts->cover() != cover.get() || m_modules != modules) {
    m_parts = std::make_shared<const CoverParts>(cover, *m_fonts, modules);
    m_modules = modules;
  }
  return m_parts;
}

Result<std::shared_ptr<SceneMaker::Base>> SceneMaker::baseOf(const std::shared_ptr<const CoverParts>& parts,
                                                             const OpenState& open,
                                                             const LayoutOptions& options) const {
  const bool isKept =
      m_base && m_base->parts == parts && m_base->open == open && m_base->built.scene.proportion == options.proportion;
  if (isKept) return m_base;
  auto base = std::make_shared<Base>();
  base->parts = parts;
  base->open = open;
  base->built = buildCanvasWithLevels(parts, open);
  TRY(layOutScene(base->built.scene, options));
  return base;
}

Result<std::shared_ptr<const CanvasScene>> SceneMaker::make(const std::shared_ptr<const Cover>& cover,
                                                            const OpenState& open, const LayoutOptions& options,
                                                            const std::shared_ptr<const ModuleTree>& modules) {
  const auto parts = partsOf(cover, modules);
  QSet<QString> holders;
  addHolders(*cover, {}, holders);
  const QSet<QString> turned = open.turned(fusedContainers());
  const QSet<QString> opened = turned - holders;
  if (cover->fusedNodes.size() >= m_large && opened.size() <= kMostOpened) {
    OpenState without = open;
    without.setTurned(fusedContainers(), turned & holders);
    m_base = TRY(baseOf(parts, without, options));
    if (opened.isEmpty()) return std::shared_ptr<const CanvasScene>(m_base, &m_base->built.scene);
    std::optional<CanvasScene> scene = TRY(openedScene(m_base->built, opened, options));
    if (scene) return std::make_shared<const CanvasScene>(std::move(*scene));
  }
  m_base.reset();
  auto scene = std::make_shared<CanvasScene>(buildCanvas(parts, open));
  TRY(layOutScene(*scene, options));
  return std::shared_ptr<const CanvasScene>(std::move(scene));
}

}  // namespace fusescope
