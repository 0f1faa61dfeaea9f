#include "ui/compare/compare_overlay.h"

#include <algorithm>

#include "base/text.h"
#include "diff/fusion_words.h"
#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

const QString kWordGap = QStringLiteral(" \u00b7 ");

/// Returns "there f16" for "f32 → f16", seen from A. Other texts are returned unchanged.
QString thereText(const std::string& what, bool isA) {
  const QString text = qs(what);
  const QString arrow = QStringLiteral(" \u2192 ");
  if (!text.contains(arrow)) return text;
  return QStringLiteral("there ") + (isA ? text.section(arrow, 1) : text.section(arrow, 0, 0));
}

}  // namespace

DifferenceIndex::DifferenceIndex(const std::vector<DifferenceGroup>& groups) {
  for (const DifferenceGroup& group : groups) {
    if (group.topic == DifferenceTopic::Time || group.topic == DifferenceTopic::Conversion ||
        group.topic == DifferenceTopic::Stored)
      continue;
    for (const DifferenceSite& site : group.sites) {
      for (const auto* kernels : {&site.a, &site.b})
        for (const CoveringNode& kernel : *kernels) m_kernels.try_emplace(kernel.identity, &group);
      if (!site.a.empty() || !site.b.empty()) continue;
      for (const std::string& node : site.nodes) m_nodes.try_emplace(node, &group);
    }
  }
}

const DifferenceGroup* DifferenceIndex::ofKernel(const Hash128& identity) const {
  const auto found = m_kernels.find(identity);
  return found == m_kernels.end() ? nullptr : found->second;
}

const DifferenceGroup* DifferenceIndex::ofNode(const std::string& name) const {
  const auto found = m_nodes.find(name);
  return found == m_nodes.end() ? nullptr : found->second;
}

CompareOverlay::CompareOverlay(const Compared& compared, const DifferenceIndex& words, const BuiltCanvas& built,
                               const SideScene& mine, const SideScene& other, bool isA)
    : m_compared(compared),
      m_words(words),
      m_built(built),
      m_mine(mine),
      m_other(other),
      m_overlay(std::make_shared<CanvasOverlay>()) {
  m_overlay->isA = isA;
  setItems();
}

bool CompareOverlay::groupDiffers(const UnionLevel& level, int group) const {
  const UnionGroup& kernels = level.groups[std::size_t(group)];
  return !kernels.same && (!kernels.a.empty() || !kernels.b.empty());
}

QString CompareOverlay::wordsOf(const DifferenceGroup& group) const {
  if (m_compared.fileIsA && (group.topic == DifferenceTopic::Fusion || group.topic == DifferenceTopic::Fate))
    return qs(group.what);  // this text is the same for both sides
  if (group.topic != DifferenceTopic::Fusion) return thereText(group.what, m_overlay->isA);
  const DifferenceSite& site = group.sites.front();
  const std::size_t here = m_overlay->isA ? site.a.size() : site.b.size();
  const std::size_t there = m_overlay->isA ? site.b.size() : site.a.size();
  const QString counts = qs(kernelCountsText(here, there));
  return group.detail.empty() ? counts : counts + QStringLiteral(": ") + qs(group.detail);
}

void CompareOverlay::mark(int item, DiffSign sign, const QString& words) {
  m_overlay->items[std::size_t(item)] = sign;
  if (!words.isEmpty()) m_overlay->words[item] = words;
}

void CompareOverlay::setItems() {
  const std::size_t count = m_built.scene.items.size();
  m_overlay->items.assign(count, DiffSign::Equal);
  const QString other = m_overlay->isA ? QStringLiteral("only in B") : QStringLiteral("only in A");
  const QString own = m_overlay->isA ? QStringLiteral("only in A") : QStringLiteral("only in B");
  for (std::size_t i = 0; i < count; ++i) {
    const CanvasItem& item = m_built.scene.items[i];
    const bool hasSides = item.kind != ItemKind::Container || (i < m_built.fusedAt.size() && m_built.fusedAt[i].level);
    if (!hasSides) continue;
    if (!m_mine.has(int(i))) mark(int(i), DiffSign::OnlyThere, other);
    if (m_mine.has(int(i)) && !m_other.has(int(i))) mark(int(i), DiffSign::OnlyHere, own);
  }
  for (std::size_t i = 0; i < m_built.fusedAt.size(); ++i)
    if (const auto& at = m_built.fusedAt[i]; at.level != nullptr && m_mine.has(int(i)) && m_other.has(int(i)))
      setGroup(int(i), m_mine.levelOf(*at.level), at.index);
  for (const CanvasLevel& level : m_built.levels) {
    setNodes(level);
    countInside(level);
  }
}

void CompareOverlay::setGroup(int item, const UnionLevel& level, int group) {
  const UnionGroup& kernels = level.groups[std::size_t(group)];
  const DifferenceGroup* differs = nullptr;
  for (const std::uint32_t kernel : kernels.a)
    if (differs == nullptr) differs = m_words.ofKernel(level.a->fusedNodes[kernel].identity);
  for (const std::uint32_t kernel : kernels.b)
    if (differs == nullptr) differs = m_words.ofKernel(level.b->fusedNodes[kernel].identity);
  if (differs == nullptr) {
    for (const NodeId node : level.cover->fusedNodes[std::size_t(group)].nodes)
      if (differs == nullptr) differs = m_words.ofNode(level.cover->graph().node(node).name);
  }
  if (differs == nullptr) return;
  const QString words = wordsOf(*differs);
  mark(item, DiffSign::Changed, words);
  if (m_built.scene.items[std::size_t(item)].open && groupDiffers(level, group))
    m_titles[item] = QStringLiteral("~ ") + words;
}

// Nodes inside of something that differs are not faded. A node that differs itself gets its own words.
void CompareOverlay::setNodes(const CanvasLevel& level) {
  for (const NodeId node : level.graph().order()) {
    const int item = level.itemOfNode[node.index];
    if (item < 0 || m_built.scene.items[std::size_t(item)].kind != ItemKind::Node) continue;
    if (m_overlay->of(item) != DiffSign::Equal) continue;
    const DifferenceGroup* own = m_words.ofNode(level.items.path().of(level.graph().node(node).name));
    if (own != nullptr) {
      mark(item, DiffSign::Changed, wordsOf(*own));
      continue;
    }
    const int parent = m_built.scene.items[std::size_t(item)].parent;
    if (parent >= 0 && m_overlay->of(parent) == DiffSign::Changed) mark(item, DiffSign::Within, {});
  }
}

// Counts the differences inside of each closed block.
void CompareOverlay::countInside(const CanvasLevel& level) {
  const UnionLevel& both = m_mine.levelOf(level);
  std::map<int, int> inside;
  for (std::size_t g = 0; g < both.groups.size(); ++g) {
    const FusedNode& group = both.cover->fusedNodes[g];
    const int item = level.itemOfNode[group.nodes.front().index];
    if (item < 0 || m_built.scene.items[std::size_t(item)].kind != ItemKind::Container) continue;
    if (std::size_t(item) < m_built.fusedAt.size() && m_built.fusedAt[std::size_t(item)].level != nullptr) continue;
    const auto differs = [&](const Cover* side, const std::vector<std::uint32_t>& kernels) {
      return side != nullptr && std::ranges::any_of(kernels, [&](std::uint32_t kernel) {
               return m_words.ofKernel(side->fusedNodes[kernel].identity) != nullptr;
             });
    };
    const UnionGroup& kernels = both.groups[g];
    if (differs(both.a, kernels.a) || differs(both.b, kernels.b) || groupDiffers(both, int(g))) ++inside[item];
  }
  for (const auto& [item, count] : inside)
    mark(item, DiffSign::Changed, plural(count, QStringLiteral("kernel differs"), QStringLiteral("kernels differ")));
}

/// Returns a text such as "Conv + Relu · f16 · 0.12 ms".
QString CompareOverlay::kernelText(const UnionLevel& level, std::uint32_t kernel) const {
  const Cover& cover = m_mine.coverOf(level);
  const FusedNode& fused = cover.fusedNodes[kernel];
  std::vector<std::string> ops;
  for (const NodeId node : fused.nodes) ops.push_back(cover.graph().node(node).op);
  constexpr std::size_t kMostOps = 3;
  QString text = ops.size() <= kMostOps ? qs(joined(ops, " + ")) : qs(fused.kind).replace('_', ' ');
  QStringList types;
  for (const DataType type : calculatedTypes(cover, fused)) types << qs(type);
  if (!types.isEmpty()) text += kWordGap + types.join(QStringLiteral(", "));
  const DiffInput& input = m_overlay->isA ? m_compared.a : m_compared.b;
  if (const auto known = input.times.find(fused.identity); known != input.times.end()) {
    const bool isFitted = known->second.how == DiffTimeKind::Fitted;
    text += kWordGap + timeText({isFitted ? TimeKind::Fitted : TimeKind::Measured, known->second.ms});
  } else if (const ShownTime time = timeWithoutRun(cover, fused); time.known()) {
    text += kWordGap + timeText(time);
  }
  return text;
}

void CompareOverlay::addKernels(const CanvasScene& own) {
  if (m_compared.fileIsA == m_overlay->isA) return;  // the nodes of a file are not kernels
  std::map<std::pair<const UnionLevel*, std::uint32_t>, bool> differing;
  for (const UnionLevel& level : m_compared.both.levels)
    for (std::size_t g = 0; g < level.groups.size(); ++g)
      if (groupDiffers(level, int(g)))
        for (const std::uint32_t kernel : m_mine.kernelsOf(level.groups[g])) differing[{&level, kernel}] = true;
  std::unordered_map<int, int> kernelOf;  // indexed by item
  for (const SideScene::DrawnKernel& drawn : m_mine.drawnKernels()) {
    if (!differing.contains({drawn.level, drawn.kernel})) continue;
    for (const int item : drawn.items) kernelOf[item] = int(m_overlay->kernels.size());
    m_overlay->kernels.push_back(
        {.items = drawn.items, .colorOf = drawn.items.front(), .label = kernelText(*drawn.level, drawn.kernel)});
  }
  for (std::size_t e = 0; e < own.edges.size(); ++e) {
    const auto from = kernelOf.find(own.edges[e].from), to = kernelOf.find(own.edges[e].to);
    if (from != kernelOf.end() && to != kernelOf.end() && from->second == to->second)
      m_overlay->kernels[std::size_t(from->second)].edges.push_back(int(e));
  }
}

void CompareOverlay::setEdges(const CanvasScene& own, const CanvasScene& others) {
  m_overlay->edges.assign(own.edges.size(), DiffSign::Equal);
  for (std::size_t e = 0; e < own.edges.size(); ++e) {
    const CanvasEdge& here = own.edges[e];
    const CanvasEdge& there = others.edges[e];
    if (here.label.isEmpty() != there.label.isEmpty())
      m_overlay->edges[e] = here.label.isEmpty() ? DiffSign::OnlyThere : DiffSign::OnlyHere;
    if (here.cast == there.cast) continue;
    if (!here.cast.isEmpty() && !there.cast.isEmpty()) {
      m_overlay->conversions[int(e)] = {DiffSign::Changed, QStringLiteral("there ") + there.cast};
    } else if (here.cast.isEmpty()) {
      m_overlay->conversions[int(e)] = {DiffSign::OnlyThere, QStringLiteral("there ") + there.cast};
    } else {
      m_overlay->conversions[int(e)] = {DiffSign::OnlyHere, QStringLiteral("only here")};
    }
  }
}

std::shared_ptr<const CanvasOverlay> CompareOverlay::make(const CanvasScene& own, const CanvasScene& others) {
  addKernels(own);
  setEdges(own, others);
  return std::move(m_overlay);
}

}  // namespace fusescope
