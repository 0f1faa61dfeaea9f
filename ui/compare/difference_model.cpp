#include "ui/compare/difference_model.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr quintptr kGroupRow = 0;  ///< the internal id of a group's row; a place has the index of its group plus 1
constexpr std::size_t kMostSelected = 2'000;

QString signWord(char sign) {
  if (sign == '+') return QStringLiteral("+");
  return sign == '-' ? QStringLiteral("\u2212") : QStringLiteral("~");
}

QString howText(const std::optional<DiffTime>& a, const std::optional<DiffTime>& b) {
  const auto words = [](DiffTimeKind how) {
    switch (how) {
      case DiffTimeKind::Measured:
        return QStringLiteral("predicted from measurements");
      case DiffTimeKind::Fitted:
        return QStringLiteral("fitted to other kernels");
      case DiffTimeKind::Built:
        return QStringLiteral("measured when it was built");
      case DiffTimeKind::Run:
        break;
    }
    return QStringLiteral("measured in a run");
  };
  const QString before = words(a->how), after = words(b->how);
  return before == after ? before : QStringLiteral("A %1, B %2").arg(before, after);
}

QString timeChangeText(const std::optional<DiffTime>& a, const std::optional<DiffTime>& b) {
  if (!a || !b) return {};
  const bool isFitted = a->how == DiffTimeKind::Fitted || b->how == DiffTimeKind::Fitted;
  const bool isPredicted = a->how == DiffTimeKind::Measured || b->how == DiffTimeKind::Measured;
  return (isFitted      ? QStringLiteral("~ ")
          : isPredicted ? QStringLiteral("\u2248 ")
                        : QString()) +
         signedMsText(b->ms - a->ms);
}

QString errorChangeText(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? errorText(*a) + QStringLiteral(" \u2192 ") + errorText(*b) : QString();
}

}  // namespace

void DifferenceModel::setPair(std::shared_ptr<const ComparedPair> pair) {
  beginResetModel();
  m_pair = std::move(pair);
  m_rows.clear();
  if (m_pair)
    for (const DifferenceGroup& group : m_pair->groups) m_rows.push_back(&group);
  sort();
  endResetModel();
}

void DifferenceModel::setOrder(Order order) {
  if (order == m_order) return;
  beginResetModel();
  m_order = order;
  sort();
  endResetModel();
}

// Sorts groups by their cost, or in the order of execution, by the first of their nodes.
void DifferenceModel::sort() {
  if (!m_pair) return;
  if (m_order == Order::Cost) {
    std::ranges::sort(m_rows);
    return;
  }
  const Graph& graph = m_pair->both.cover->graph();
  std::vector<std::uint32_t> place(graph.nodeIdLimit(), 0);
  std::uint32_t next = 0;
  for (const NodeId node : graph.order()) place[node.index] = next++;
  std::vector<std::pair<std::uint32_t, const DifferenceGroup*>> placed;
  for (const DifferenceGroup* group : m_rows) {
    std::uint32_t first = UINT32_MAX;
    for (const DifferenceSite& site : group->sites)
      if (!site.nodes.empty())
        if (const auto node = graph.findNode(site.nodes.front())) first = std::min(first, place[node->index]);
    placed.emplace_back(first, group);
  }
  std::ranges::sort(placed);
  for (std::size_t i = 0; i < placed.size(); ++i) m_rows[i] = placed[i].second;
}

QModelIndex DifferenceModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= columnCount() || row >= rowCount(parent)) return {};
  return createIndex(row, column, parent.isValid() ? quintptr(parent.row()) + 1 : kGroupRow);
}

QModelIndex DifferenceModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == kGroupRow) return {};
  return createIndex(int(index.internalId()) - 1, 0, kGroupRow);
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return int(m_rows.size());
  if (parent.internalId() != kGroupRow || parent.column() != 0) return 0;
  const std::size_t sites = m_rows[std::size_t(parent.row())]->sites.size();
  return sites < 2 ? 0 : int(sites);
}

int DifferenceModel::columnCount(const QModelIndex&) const {
  return 3;
}

const DifferenceGroup* DifferenceModel::groupAt(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  const std::size_t row = index.internalId() == kGroupRow ? std::size_t(index.row()) : index.internalId() - 1;
  return row < m_rows.size() ? m_rows[row] : nullptr;
}

const DifferenceSite* DifferenceModel::siteAt(const QModelIndex& index) const {
  const DifferenceGroup* group = groupAt(index);
  if (group == nullptr || index.internalId() == kGroupRow) return nullptr;
  return &group->sites[std::size_t(index.row())];
}

QStringList DifferenceModel::firstNodes(const QModelIndex& index) const {
  const DifferenceGroup* group = groupAt(index);
  if (group == nullptr) return {};
  const DifferenceSite* site = siteAt(index);
  QStringList names;
  for (const std::string& node : (site != nullptr ? *site : group->sites.front()).nodes) names << qs(node);
  return names;
}

QStringList DifferenceModel::allNodes(const QModelIndex& index) const {
  const DifferenceGroup* group = groupAt(index);
  if (group == nullptr || siteAt(index) != nullptr) return firstNodes(index);
  QStringList names;
  for (const DifferenceSite& site : group->sites)
    for (const std::string& node : site.nodes)
      if (std::size_t(names.size()) < kMostSelected) names << qs(node);
  return names;
}

// Returns a text such as "layer.0 … layer.11, the same in ×12", with "because of --precision f32 → f16" in the next
// line.
QString DifferenceModel::detailOf(const DifferenceGroup& group) const {
  QStringList where, parts;
  if (group.sites.size() == 1) where << qs(group.sites.front().name);
  if (const std::string place = placeText(group); !place.empty()) where << qs(place);
  parts << where.join(QStringLiteral(" \u00b7 "));
  if (m_pair->file != nullptr) {
    if (!group.because.empty()) parts << qs(joined(group.because, " and "));
  } else if (!group.because.empty()) {
    parts << QStringLiteral("because of %1").arg(qs(joined(group.because, " and ")));
  } else if (!m_pair->diff.causesKnown) {
    parts << QString::fromUtf8(kCausesNotDisclosed);
  } else if (group.topic != DifferenceTopic::Network && group.topic != DifferenceTopic::Time) {
    parts << (m_pair->causesFound ? QStringLiteral("cause not known")
                                  : QStringLiteral("searching for the cause \u2026"));
  }
  return parts.join(QLatin1Char('\n'));
}

QString DifferenceModel::wordsAt(const QModelIndex& index) const {
  const DifferenceGroup* group = groupAt(index);
  if (group == nullptr) return {};
  const DifferenceSite* site = siteAt(index);
  const auto ofA = site != nullptr ? site->ofA : group->ofA, ofB = site != nullptr ? site->ofB : group->ofB;
  const auto errorOfA = site != nullptr ? site->errorOfA : group->errorOfA;
  const auto errorOfB = site != nullptr ? site->errorOfB : group->errorOfB;
  QString words = qs(group->what);
  if (site == nullptr && group->sites.size() > 1)
    words += QStringLiteral(", %1").arg(plural(std::int64_t(group->sites.size()), QStringLiteral("place")));
  words += QLatin1Char('\n') + (site != nullptr ? qs(site->name) : detailOf(*group));
  if (ofA && ofB)
    words += QStringLiteral("\n%1 (A %2, B %3), %4")
                 .arg(signedMsText(ofB->ms - ofA->ms), msText(ofA->ms), msText(ofB->ms), howText(ofA, ofB));
  if (errorOfA)
    words +=
        QStringLiteral("\nerror, max |\u0394| over rms: A %1, B %2").arg(errorText(*errorOfA), errorText(*errorOfB));
  return words;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
  const DifferenceGroup* group = groupAt(index);
  if (group == nullptr) return {};
  const DifferenceSite* site = siteAt(index);
  const auto ofA = site != nullptr ? site->ofA : group->ofA, ofB = site != nullptr ? site->ofB : group->ofB;
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == 1) return timeChangeText(ofA, ofB);
      if (index.column() == 2)
        return site != nullptr ? errorChangeText(site->errorOfA, site->errorOfB)
                               : errorChangeText(group->errorOfA, group->errorOfB);
      if (site != nullptr) return qs(site->name);
      return group->sites.size() < 2 ? qs(group->what)
                                     : QStringLiteral("%1 (%2)").arg(qs(group->what)).arg(group->sites.size());
    case Qt::TextAlignmentRole:
      return index.column() == 0 ? int(Qt::AlignLeft | Qt::AlignVCenter) : int(Qt::AlignRight | Qt::AlignVCenter);
    case kSignRole:
      return index.column() == 0 && site == nullptr ? signWord(group->sign) : QString();
    case kDetailRole:
      if (index.column() != 0) return QString();
      return site != nullptr ? qs(site->block) : detailOf(*group);
    case Qt::ToolTipRole:
      return tipText(wordsAt(index));
    case Qt::AccessibleTextRole:
      return index.column() == 0 ? wordsAt(index) : QVariant();
    case kToneRole:
      if (index.column() != 1 || !ofA || !ofB || ofA->ms == ofB->ms) return int(Tone::Plain);
      return int(ofB->ms > ofA->ms ? Tone::Bad : Tone::Good);
    default:
      return {};
  }
}

QVariant DifferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::DisplayRole)
    return section == 0   ? QStringLiteral("Difference")
           : section == 1 ? QStringLiteral("\u0394 time")
                          : QStringLiteral("Error");
  if (role == Qt::ToolTipRole && section == 1)
    return QStringLiteral(
        "How much longer B takes than A. \u2248: predicted from measurements; ~: fitted to other kernels; otherwise "
        "measured.");
  if (role == Qt::ToolTipRole && section == 2)
    return QStringLiteral(
        "max |\u0394| over rms against the exact network, A \u2192 B, if both were evaluated in the same way.");
  return {};
}

}  // namespace fusescope
