#include "ui/canvas/block_copies.h"

#include <algorithm>
#include <unordered_map>

#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr std::size_t kNodesNamed = 2;  // in a line about a difference

/// The plans of the nodes of one copy of a block, indexed by the position of the node in the copy.
class CopyPlan {
 public:
  CopyPlan(const LevelParts& level, const Module& copy) : m_level(level), m_nodes(copy.nodes) {
    std::unordered_map<int, int> firstOf;
    for (std::size_t place = 0; place < m_nodes.size(); ++place) {
      const int kernel = level.fusedOfNode[m_nodes[place].index];
      m_firstOfKernel.push_back(kernel < 0 ? -1 : firstOf.try_emplace(kernel, int(place)).first->second);
    }
  }

  std::size_t size() const { return m_nodes.size(); }
  NodeId node(std::size_t place) const { return m_nodes[place]; }
  /// Returns the position of the first node of the kernel that runs this node; -1 if no kernel does.
  int firstOfKernel(std::size_t place) const { return m_firstOfKernel[place]; }
  DataType asked(std::size_t place) const { return m_level.asked[m_nodes[place].index]; }
  DataType calculates(std::size_t place) const {
    const std::size_t node = m_nodes[place].index;
    return node < m_level.cover.calculates.size() ? m_level.cover.calculates[node] : DataType::Undefined;
  }
  bool fallsBack(std::size_t place) const {
    const int kernel = m_level.fusedOfNode[m_nodes[place].index];
    return kernel >= 0 && m_level.cover.inFallback(m_level.cover.fusedNodes[std::size_t(kernel)]);
  }
  QString name(std::size_t place) const { return qs(m_level.graph().node(m_nodes[place]).name); }

 private:
  const LevelParts& m_level;
  const std::vector<NodeId>& m_nodes;
  std::vector<int> m_firstOfKernel;
};

QString copyTypeWord(DataType type) {
  return type == DataType::Undefined ? QStringLiteral("none") : qs(type);
}

class CopyComparison {
 public:
  CopyComparison(const CopyPlan& first, const CopyPlan& other) : m_first(first), m_other(other) {}

  bool same() const {
    if (m_first.size() != m_other.size()) return false;
    for (std::size_t i = 0; i < m_first.size(); ++i)
      if (kernelDiffers(i) || typeDiffers(i) || pinDiffers(i) || fallbackDiffers(i)) return false;
    return true;
  }

  QString inWords(const QString& firstName) const {
    QStringList lines;
    add(
        lines, [&](std::size_t i) { return pinDiffers(i); },
        [&](std::size_t i) {
          return m_other.asked(i) == DataType::Undefined
                     ? QStringLiteral("not pinned, in %1 to %2").arg(firstName, copyTypeWord(m_first.asked(i)))
                     : QStringLiteral("pinned to %1").arg(copyTypeWord(m_other.asked(i)));
        });
    add(
        lines, [&](std::size_t i) { return typeDiffers(i); },
        [&](std::size_t i) {
          return QStringLiteral("calculates in %1, in %2 in %3")
              .arg(copyTypeWord(m_other.calculates(i)), firstName, copyTypeWord(m_first.calculates(i)));
        });
    add(
        lines, [&](std::size_t i) { return kernelDiffers(i); },
        [&](std::size_t) { return QStringLiteral("in a kernel of other nodes than in %1").arg(firstName); });
    add(
        lines, [&](std::size_t i) { return fallbackDiffers(i); },
        [&](std::size_t i) {
          return m_other.fallsBack(i) ? QStringLiteral("falls back")
                                      : QStringLiteral("does not fall back, in %1 it does").arg(firstName);
        });
    return lines.join(QLatin1Char('\n'));
  }

 private:
  bool kernelDiffers(std::size_t i) const { return m_first.firstOfKernel(i) != m_other.firstOfKernel(i); }
  bool typeDiffers(std::size_t i) const { return m_first.calculates(i) != m_other.calculates(i); }
  bool pinDiffers(std::size_t i) const { return m_first.asked(i) != m_other.asked(i); }
  bool fallbackDiffers(std::size_t i) const { return m_first.fallsBack(i) != m_other.fallsBack(i); }

  /// Adds a line such as "node_gelu, node_mul +3: calculates in f16, in layer.0 in f32". It is about the nodes that
  /// differ in the same way as the first node that differs.
  template <class Differs, class Words>
  void add(QStringList& lines, const Differs& differs, const Words& words) const {
    QStringList names;
    QString said;
    std::size_t more = 0;
    for (std::size_t i = 0; i < m_first.size(); ++i) {
      if (!differs(i)) continue;
      if (said.isEmpty()) said = words(i);
      if (std::size_t(names.size()) < kNodesNamed) {
        names << m_other.name(i);
      } else {
        ++more;
      }
    }
    if (names.isEmpty()) return;
    const QString rest = more == 0 ? QString() : QStringLiteral(" +%1").arg(more);
    lines << QStringLiteral("\u2260 %1%2: %3").arg(names.join(QStringLiteral(", ")), rest, said);
  }

  const CopyPlan& m_first;
  const CopyPlan& m_other;
};

}  // namespace

std::vector<std::int32_t> unlikeCopies(const LevelParts& level, const Module& run) {
  std::vector<std::int32_t> unlike;
  const std::vector<Module>& modules = level.blocks.tree()->modules;
  const CopyPlan first(level, modules[std::size_t(run.children.front())]);
  for (const std::int32_t copy : run.children)
    if (!CopyComparison(first, CopyPlan(level, modules[std::size_t(copy)])).same()) unlike.push_back(copy);
  return unlike;
}

QString copyDifference(const LevelParts& level, std::int32_t module) {
  const std::vector<Module>& modules = level.blocks.tree()->modules;
  const Module& copy = modules[std::size_t(module)];
  if (copy.parent < 0 || !modules[std::size_t(copy.parent)].isRun) return {};
  const Module& first = modules[std::size_t(modules[std::size_t(copy.parent)].children.front())];
  if (&first == &copy) return {};
  const CopyPlan ofFirst(level, first), ofCopy(level, copy);
  const CopyComparison comparison(ofFirst, ofCopy);
  return comparison.same() ? QString() : comparison.inWords(qs(first.name));
}

}  // namespace fusescope
