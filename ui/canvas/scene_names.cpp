// Finds the things to which the names in a scene refer.
#include <algorithm>

#include "ui/canvas/container_kinds.h"
#include "ui/canvas/cover_parts.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

using Kind = CoverParts::Kind;

const QString kNodeKey = QStringLiteral("n:");

int itemOfThing(const CanvasScene& scene, const CoverParts::Thing& thing) {
  const LevelItems& level = scene.levels[thing.level];
  if (!level.isDrawn) return thing.kind == Kind::Pill ? -1 : level.closedIn;
  const LevelParts& parts = *scene.parts->levels()[thing.level].parts;
  switch (thing.kind) {
    case Kind::Handle:
    case Kind::FusedName:
      return level.ofFused[thing.index];
    case Kind::Block:
      return level.ofBlock[thing.index];
    case Kind::Node:
      return level.ofNode[thing.index];
    case Kind::Value: {
      const NodeId producer = parts.graph().value(ValueId(thing.index)).producer;
      return producer.valid() ? level.ofNode[producer.index] : -1;
    }
    case Kind::Module:
      return level.ofNode[parts.blocks.tree()->modules[thing.index].nodes.front().index];
    case Kind::Pill:
      return level.ofPill[thing.index];
  }
  return -1;
}

/// Returns the handle of the fused node that contains `level`, which is not drawn, in the innermost level that is
/// drawn.
QString handleAround(const CanvasScene& scene, std::uint32_t level) {
  const CoverParts& parts = *scene.parts;
  const auto place = [&parts](std::uint32_t at) { return static_cast<std::uint32_t>(parts.levels()[at].around); };
  while (!scene.levels[place(level)].isDrawn) level = place(level);
  return parts.handleOf({Kind::Node, place(level), parts.levels()[level].holder.index});
}

/// Returns the handle of the innermost container around something that can be opened: its block, otherwise its segment,
/// otherwise the holder of the level. `block` and `segment` are -1 if there is none.
QString around(const CanvasScene& scene, std::uint32_t level, int block, int segment) {
  const CoverParts::Level& of = scene.parts->levels()[level];
  const LevelParts& parts = *of.parts;
  if (block >= 0) return parts.blockHandles[std::size_t(block)];
  if (of.around >= 0)
    return scene.parts->handleOf({Kind::Node, static_cast<std::uint32_t>(of.around), of.holder.index});
  return segment < 0 ? QString() : parts.items.nameOf(parts.cover.segments[std::size_t(segment)].name);
}

int segmentOf(const Cover& cover, const FusedNode& fused, NodeId node) {
  if (fused.segment.valid()) return int(fused.segment.index);
  const auto found = std::ranges::find_if(cover.segments, [&](const Segment& segment) {
    return std::ranges::find(segment.nodes, node) != segment.nodes.end();
  });
  return found == cover.segments.end() ? -1 : int(found - cover.segments.begin());
}

std::optional<Openable> openableOf(const CanvasScene& scene, const CoverParts::Thing& thing) {
  const LevelParts& of = *scene.parts->levels()[thing.level].parts;
  if (thing.kind == Kind::Block) {
    const CoverBlock& block = of.blocks.all()[thing.index];
    return Openable{&moduleContainers(), around(scene, thing.level, block.parent, block.segment), true};
  }
  std::vector<NodeId> drawn;
  of.drawnIn(thing.index, drawn);
  if (drawn.empty()) return std::nullopt;
  const int block = of.blockOfNode.empty() ? -1 : of.blockOfNode[drawn.front().index];
  const int segment = segmentOf(of.cover, of.cover.fusedNodes[thing.index], drawn.front());
  return Openable{&fusedContainers(), around(scene, thing.level, block, segment), of.canOpen(thing.index)};
}

}  // namespace

int CanvasScene::itemOfKey(const QString& key) const {
  if (const auto known = byKey.constFind(key); known != byKey.constEnd()) return *known;
  if (parts == nullptr) return -1;
  const bool isNode = key.startsWith(kNodeKey);
  const auto thing = parts->find((isNode ? key.mid(kNodeKey.size()) : key).toStdString());
  if (!thing || !levels[thing->level].isDrawn) return -1;
  if (isNode != (thing->kind == Kind::Node)) return -1;
  if (!isNode && thing->kind != Kind::Handle && thing->kind != Kind::Block) return -1;
  const int item = itemOfThing(*this, *thing);
  return isNode && item >= 0 && items[std::size_t(item)].kind != ItemKind::Node ? -1 : item;
}

// Of things with the same name, nodes come before containers, and fused nodes, inputs and outputs come before values.
int CanvasScene::itemOf(const QString& name) const {
  if (const int known = itemOfKey(name); known >= 0) return known;
  const auto thing = parts == nullptr ? std::nullopt : parts->find(name.toStdString());
  if (thing && thing->kind <= Kind::Node) return itemOfThing(*this, *thing);
  if (const auto known = byName.constFind(name); known != byName.constEnd()) return *known;
  if (thing && thing->kind == Kind::FusedName) return itemOfThing(*this, *thing);
  for (const char* pill : {"i:", "o:"})
    if (const auto known = byKey.constFind(QLatin1String(pill) + name); known != byKey.constEnd()) return *known;
  return thing ? itemOfThing(*this, *thing) : -1;
}

std::vector<int> CanvasScene::matching(const QString& text) const {
  std::vector<int> found;
  const std::string wanted = text.toLower().toStdString();
  if (wanted.empty() || parts == nullptr) return found;
  for (std::size_t i = 0; i < parts->entryCount(); ++i)
    if (parts->entryText(i).find(wanted) != std::string_view::npos && itemOfEntry(int(i)) >= 0) found.push_back(int(i));
  return found;
}

int CanvasScene::itemOfEntry(int entry) const {
  return itemOfThing(*this, parts->entry(std::size_t(entry)));
}

QString CanvasScene::nameOfEntry(int entry) const {
  return qs(parts->nameOf(parts->entry(std::size_t(entry))));
}

std::optional<Openable> CanvasScene::container(const QString& handle) const {
  if (parts == nullptr) return std::nullopt;
  const auto thing = parts->find(handle.toStdString());
  if (thing && (thing->kind == Kind::Handle || thing->kind == Kind::Block))
    return levels[thing->level].isDrawn ? openableOf(*this, *thing) : std::nullopt;
  const auto known = byName.constFind(handle);
  if (known == byName.constEnd() || !items[std::size_t(*known)].canOpen || items[std::size_t(*known)].name != handle)
    return std::nullopt;
  return Openable{items[std::size_t(*known)].container, {}, true};
}

std::optional<Openable> CanvasScene::findOpenable(const QString& handle) const {
  auto found = container(handle);
  return found && found->canOpen ? found : std::nullopt;
}

QStringList CanvasScene::openable() const {
  QStringList handles;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!levels[l].isDrawn) continue;
    const LevelParts& of = *parts->levels()[l].parts;
    for (std::size_t f = 0; f < of.cover.fusedNodes.size(); ++f)
      if (of.canOpen(f)) handles << of.handles[f];
    for (const QString& block : of.blockHandles) handles << block;
  }
  for (auto known = byName.begin(); known != byName.end(); ++known)
    if (findOpenable(known.key())) handles << known.key();
  return handles;
}

QStringList CanvasScene::openableInside(const QString& handle) const {
  QStringList inside;
  for (const QString& each : openable()) {
    QString within = container(each)->within;
    while (!within.isEmpty() && within != handle) {
      const auto outer = container(within);
      within = outer ? outer->within : QString();
    }
    if (!within.isEmpty()) inside << each;
  }
  return inside;
}

QString CanvasScene::containerOf(const QString& name) const {
  const auto thing = parts == nullptr ? std::nullopt : parts->find(name.toStdString());
  if (!thing) return name;
  const bool isDrawn = levels[thing->level].isDrawn;
  const QString handle = isDrawn ? parts->handleOf(*thing) : handleAround(*this, thing->level);
  return handle.isEmpty() ? name : handle;
}

}  // namespace fusescope
