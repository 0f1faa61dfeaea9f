#include "ui/canvas/cover_parts.h"

#include <algorithm>

#include "base/hash.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

std::uint32_t nameHash(std::string_view text) {
  return static_cast<std::uint32_t>(hashText(text).low);
}

/// Appends `text` in lower case. ASCII text is converted here, because Qt takes long.
void appendLower(std::string& to, const std::string& text) {
  const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; });
  if (!ascii) {
    to += qs(text).toLower().toStdString();
    return;
  }
  for (const char c : text) to += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

ValueId pillOf(const Graph& graph, std::uint32_t index) {
  const auto& inputs = graph.inputs();
  return index < inputs.size() ? inputs[index] : graph.outputs()[index - inputs.size()];
}

}  // namespace

CoverParts::CoverParts(std::shared_ptr<const Cover> cover, const CanvasFonts& fonts,
                       std::shared_ptr<const ModuleTree> modules)
    : m_cover(std::move(cover)) {
  addLevel(*m_cover, {}, std::move(modules), {}, fonts);
  for (std::uint32_t level = 0; level < m_levels.size(); ++level) {
    addNames(level);
    addEntries(level);
  }
  std::ranges::sort(m_byHash);
  m_byHash.shrink_to_fit();
  m_entries.shrink_to_fit();
  m_text.shrink_to_fit();
}

void CoverParts::addLevel(const Cover& cover, const BodyPath& path, std::shared_ptr<const ModuleTree> modules,
                          Level level, const CanvasFonts& fonts) {
  level.parts = std::make_unique<LevelParts>(cover, path, fonts, std::move(modules));
  const LevelParts& parts = *level.parts;
  const int own = int(m_levels.size());
  m_levels.push_back(std::move(level));
  addIds(parts);
  for (const CoverBody& body : cover.bodies)
    addLevel(*body.cover, path.into(cover.graph().node(body.holder), body.attribute),
             parts.modules == nullptr ? nullptr : parts.modules->body(body.holder, body.attribute),
             {.parts = nullptr, .around = own, .holder = body.holder, .attribute = body.attribute}, fonts);
}

int CoverParts::levelOf(int around, NodeId holder, const std::string& attribute) const {
  const auto found = std::ranges::find_if(m_levels, [&](const Level& level) {
    return level.around == around && level.holder == holder && level.attribute == attribute;
  });
  return found == m_levels.end() ? -1 : int(found - m_levels.begin());
}

void CoverParts::addIds(const LevelParts& parts) {
  const Graph& graph = parts.graph();
  const std::size_t fused = parts.cover.fusedNodes.size();
  const std::size_t modules = parts.blocks.tree() == nullptr ? 0 : parts.blocks.tree()->modules.size();
  const std::size_t counts[] = {fused,
                                parts.blocks.all().size(),
                                graph.nodeIdLimit(),
                                fused,
                                graph.valueIdLimit(),
                                modules,
                                graph.inputs().size() + graph.outputs().size()};
  Ids& ids = m_ids.emplace_back();
  std::uint32_t next = m_ids.size() < 2 ? 0 : m_ids[m_ids.size() - 2].begin[7];
  for (std::size_t kind = 0; kind < 7; ++kind) {
    ids.begin[kind] = next;
    next += static_cast<std::uint32_t>(counts[kind]);
  }
  ids.begin[7] = next;
}

CoverParts::Thing CoverParts::thingOf(std::uint32_t id) const {
  const auto after =
      std::ranges::upper_bound(m_ids, id, {}, [](const Ids& ids) { return ids.begin[0]; }) - m_ids.begin();
  const Ids& ids = m_ids[static_cast<std::size_t>(after) - 1];
  const auto* kind = std::upper_bound(std::begin(ids.begin), std::end(ids.begin) - 1, id) - 1;
  return {static_cast<Kind>(kind - std::begin(ids.begin)), static_cast<std::uint32_t>(after) - 1, id - *kind};
}

void CoverParts::addName(std::string_view name, std::uint32_t id) {
  m_byHash.emplace_back(nameHash(name), id);
}

// A name is left out if the same name has been added for something that is found first.
void CoverParts::addNames(std::uint32_t level) {
  const LevelParts& parts = *m_levels[level].parts;
  const Graph& graph = parts.graph();
  const auto add = [&](Kind kind, std::uint32_t index) {
    addName(nameOf({kind, level, index}), idOf(level, kind, index));
  };
  m_byHash.reserve(m_byHash.size() + 2 * parts.cover.fusedNodes.size() + 2 * graph.nodeCount());
  for (std::uint32_t f = 0; f < parts.cover.fusedNodes.size(); ++f) {
    const FusedNode& fused = parts.cover.fusedNodes[f];
    add(Kind::Handle, f);
    if (!graph.has(fused.root) || graph.node(fused.root).name != fused.name) add(Kind::FusedName, f);
  }
  for (std::uint32_t b = 0; b < parts.blocks.all().size(); ++b) add(Kind::Block, b);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    add(Kind::Node, id.index);
    for (const ValueId value : node.outputs)
      if (value.valid() && graph.value(value).name != node.name) add(Kind::Value, value.index);
  }
  if (parts.blocks.tree() == nullptr) return;
  std::vector<bool> isBlock(parts.blocks.tree()->modules.size(), false);
  for (const CoverBlock& block : parts.blocks.all())
    if (!block.split) isBlock[std::size_t(block.module)] = true;
  for (std::uint32_t m = 0; m < isBlock.size(); ++m)
    if (!isBlock[m]) add(Kind::Module, m);
}

std::string CoverParts::nameOf(const Thing& thing) const {
  const LevelParts& parts = *m_levels[thing.level].parts;
  const BodyPath& path = parts.items.path();
  switch (thing.kind) {
    case Kind::Handle:
      return parts.handles[thing.index].toStdString();
    case Kind::Block:
      return parts.blockHandles[thing.index].toStdString();
    case Kind::Node:
      return path.of(parts.graph().node(NodeId(thing.index)).name);
    case Kind::FusedName:
      return path.of(parts.cover.fusedNodes[thing.index].name);
    case Kind::Value:
      return path.of(parts.graph().value(ValueId(thing.index)).name);
    case Kind::Module:
      return path.exactly(kModulePrefix + parts.blocks.tree()->modules[thing.index].path);
    case Kind::Pill:
      return path.of(parts.graph().value(pillOf(parts.graph(), thing.index)).name);
  }
  return {};
}

std::optional<CoverParts::Thing> CoverParts::find(std::string_view name) const {
  const std::uint32_t hash = nameHash(name);
  std::optional<Thing> best;
  for (auto at = std::ranges::lower_bound(m_byHash, std::pair(hash, std::uint32_t(0))); at != m_byHash.end(); ++at) {
    if (at->first != hash) break;
    const Thing thing = thingOf(at->second);
    if ((!best || thing.kind < best->kind) && nameOf(thing) == name) best = thing;
  }
  return best;
}

QString CoverParts::handleOf(const Thing& thing) const {
  const LevelParts& parts = *m_levels[thing.level].parts;
  const auto ofFused = [&](int fused) { return fused < 0 ? QString() : parts.handles[std::size_t(fused)]; };
  switch (thing.kind) {
    case Kind::Handle:
    case Kind::FusedName:
      return ofFused(int(thing.index));
    case Kind::Block:
      return parts.blockHandles[thing.index];
    case Kind::Node:
      return ofFused(parts.fusedOfNode[thing.index]);
    case Kind::Module:
      return ofFused(parts.fusedOfNode[parts.blocks.tree()->modules[thing.index].nodes.front().index]);
    case Kind::Value:
    case Kind::Pill:
      return {};
  }
  return {};
}

void CoverParts::addEntries(std::uint32_t level) {
  const LevelParts& parts = *m_levels[level].parts;
  const Graph& graph = parts.graph();
  const auto pills = static_cast<std::uint32_t>(graph.inputs().size() + graph.outputs().size());
  for (std::uint32_t pill = 0; pill < pills; ++pill)
    addEntry(level, Kind::Pill, pill,
             nameOf({Kind::Pill, level, pill}) + '\n' + graph.value(pillOf(graph, pill)).type.text());
  for (std::uint32_t block = 0; block < parts.blocks.all().size(); ++block) {
    const Module& module = parts.blocks.moduleOf(parts.blocks.all()[block]);
    addEntry(level, Kind::Block, block, parts.items.path().of(module.path) + '\n' + module.title + '\n' + module.name);
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::string more = nameOf({Kind::Node, level, id.index}) + '\n' + node.op;
    for (const ValueId value : node.outputs)
      if (value.valid()) more += '\n' + parts.items.path().of(graph.value(value).name);
    for (const OriginId origin : node.origins) {
      const auto& origins = parts.cover.model->origins;
      if (origin.index < origins.size()) more += '\n' + origins[origin.index].name;
    }
    if (const int fused = parts.fusedOfNode[id.index]; fused >= 0)
      more += '\n' + parts.cover.fusedNodes[std::size_t(fused)].kind;
    addEntry(level, Kind::Node, id.index, more);
  }
}

void CoverParts::addEntry(std::uint32_t level, Kind kind, std::uint32_t index, const std::string& text) {
  appendLower(m_text, text);
  m_entries.push_back({idOf(level, kind, index), static_cast<std::uint32_t>(m_text.size())});
}

std::string_view CoverParts::entryText(std::size_t place) const {
  const std::size_t begin = place == 0 ? 0 : m_entries[place - 1].end;
  return std::string_view(m_text).substr(begin, m_entries[place].end - begin);
}

}  // namespace fusescope
