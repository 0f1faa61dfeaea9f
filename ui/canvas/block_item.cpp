#include "ui/canvas/block_item.h"

#include <algorithm>
#include <map>

#include "ui/canvas/block_copies.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr double kSecondType = 0.05;  // a type is named beside the first one if its share of the work is at least this
constexpr std::size_t kOperatorsNamed = 2;
constexpr int kCopiesNamed = 4;

const QString kDotBetween = QStringLiteral(" \u00b7 ");

/// The sums of the kernels in a block. Work whose amount is unknown counts as one operation.
struct BlockWork {
  std::map<DataType, double> byType;
  struct Operator {
    double flops = 0;
    int kernels = 0;
  };
  std::map<std::string, Operator> byOperator;
  std::string heaviestKind;
  double heaviest = -1;

  void add(const Cover& cover, const CoverFacts& facts, const FusedNode& fused) {
    const double flops = fused.flops ? double(std::max<std::int64_t>(*fused.flops, 1)) : 1;
    if (const DataType type = facts.typeOf(fused); type != DataType::Undefined) byType[type] += flops;
    Operator& of = byOperator[operatorOf(cover.graph(), fused)];
    of.flops += flops;
    ++of.kernels;
    if (flops <= heaviest) return;
    heaviest = flops;
    heaviestKind = fused.kind;
  }

  /// Returns the operator that determines the kind of a kernel, or the kind itself for a kernel without nodes.
  static std::string operatorOf(const Graph& graph, const FusedNode& fused) {
    if (fused.root.valid() && graph.has(fused.root)) return graph.node(fused.root).op;
    return fused.nodes.empty() || !graph.has(fused.nodes.front()) ? fused.kind : graph.node(fused.nodes.front()).op;
  }

  /// Returns a text such as "MatMul \u00d74, Softmax, +3": the operators with most work first, and then how many
  /// kernels have other operators.
  QString operators() const {
    std::vector<std::pair<std::string, Operator>> all(byOperator.begin(), byOperator.end());
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second.flops > b.second.flops; });
    QStringList parts;
    int rest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int kernels = all[i].second.kernels;
      if (i >= kOperatorsNamed) {
        rest += kernels;
      } else {
        parts << (kernels == 1 ? qs(all[i].first) : QStringLiteral("%1 \u00d7%2").arg(qs(all[i].first)).arg(kernels));
      }
    }
    if (rest > 0) parts << QStringLiteral("+%1").arg(rest);
    return parts.join(QStringLiteral(", "));
  }

  /// Returns the types whose share of the work is large enough to be named, the one with most work first.
  std::vector<DataType> types() const {
    std::vector<std::pair<DataType, double>> all(byType.begin(), byType.end());
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    double sum = 0;
    for (const auto& [type, flops] : all) sum += flops;
    std::vector<DataType> types;
    for (const auto& [type, flops] : all)
      if (types.empty() || flops >= kSecondType * sum) types.push_back(type);
    return types;
  }
};

void setTypesOf(CanvasItem& item, const std::vector<DataType>& types) {
  item.precision = types.empty() ? DataType::Undefined : types.front();
  item.facts.second = types.size() > 1 ? types[1] : DataType::Undefined;
}

/// Returns a text such as "layer.3, layer.7 differ from layer.0".
QString unlikeNote(const CoverBlocks& blocks, const Module& run, const std::vector<std::int32_t>& unlike) {
  const std::vector<Module>& modules = blocks.tree()->modules;
  QStringList names;
  for (const std::int32_t copy : unlike) {
    if (names.size() == kCopiesNamed) {
      names << QStringLiteral("%1 more").arg(int(unlike.size()) - kCopiesNamed);
      break;
    }
    names << qs(modules[std::size_t(copy)].name);
  }
  const QString verb = unlike.size() == 1 ? QStringLiteral("differs") : QStringLiteral("differ");
  return QStringLiteral("\u2260 %1 %2 from %3")
      .arg(names.join(QStringLiteral(", ")), verb, qs(modules[std::size_t(run.children.front())].name));
}

/// Returns the lowest certainty of the kernels of another compiler in the block, or nothing if all its kernels are our
/// own.
std::optional<Certainty> leastCertainIn(const LevelParts& level, const CoverBlock& block) {
  const ReadBackPlan* made = asReadBack(level.cover);
  std::optional<Certainty> least;
  for (std::size_t i = 0; made != nullptr && i < block.kernels.size(); ++i) {
    const auto certainty = leastCertain(*made, made->fusedNodes[std::size_t(block.kernels[i])]);
    if (certainty) least = std::max(least, certainty);
  }
  return least;
}

CanvasItem makeBlockItem(const LevelParts& level, std::size_t index) {
  const CoverBlock& block = level.blocks.all()[index];
  const Module& module = level.blocks.moduleOf(block);
  CanvasItem item;
  item.name = level.items.nameOf(module.path);
  item.key = level.blockHandles[index];
  item.title = qs(module.isRun ? module.name : module.title);
  item.canOpen = true;
  item.nodes = int(block.nodes.size());
  item.segment = block.segment;
  BlockWork work;
  for (const int kernel : block.kernels) {
    const FusedNode& fused = level.cover.fusedNodes[std::size_t(kernel)];
    work.add(level.cover, level.items.facts(), fused);
    addFacts(item.facts, level.items.facts().of(fused));
  }
  item.certainty = leastCertainIn(level, block);
  item.facts.guessed = item.isGuessed();
  setTypesOf(item, work.types());
  item.kindName = qs(work.heaviestKind);
  item.fallback = !block.kernels.empty() && std::ranges::all_of(block.kernels, [&](int kernel) {
    return level.cover.inFallback(level.cover.fusedNodes[std::size_t(kernel)]);
  });
  item.detail = work.operators();
  item.meta =
      plural(std::int64_t(block.kernels.size()), "kernel") + kDotBetween + plural(std::int64_t(item.nodes), "node");

  auto facts = std::make_shared<BlockFacts>();
  facts->of = level.kernels;
  facts->kernels = block.kernels;
  if (module.isRun && block.copies > 1) {
    const std::vector<std::int32_t> unlike = unlikeCopies(level, module);
    facts->copies = block.copies;
    facts->unlike = int(unlike.size());
    item.title += QStringLiteral("  \u00d7%1").arg(block.copies);
    if (!unlike.empty()) {
      facts->note = unlikeNote(level.blocks, module, unlike);
      item.detail =
          QStringLiteral("\u2260 %1 of %2 differ").arg(unlike.size()).arg(block.copies) + kDotBetween + item.detail;
    }
  }
  facts->note += copyDifference(level, block.module);
  if (facts->copies == 0 && !facts->note.isEmpty()) item.title = QStringLiteral("\u2260 ") + item.title;
  item.block = std::move(facts);
  return item;
}

}  // namespace

const CanvasItem& blockItem(const LevelParts& level, std::size_t block) {
  std::optional<CanvasItem>& known = level.blockItems[block];
  if (!known) known = makeBlockItem(level, block);
  return *known;
}

}  // namespace fusescope
