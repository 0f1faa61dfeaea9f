// The texts of the rows of LayersModel, cell by cell and as sums.
#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"
#include "ui/models/layers_model.h"

namespace fusescope {

namespace {

constexpr const char* kHeaders[] = {"Node", "Op",    "Fused node", "Segment", "Computes",    "Stored",
                                    "Pin",  "FLOPs", "Bytes",      "Time",    "Local error", "Carried error"};
constexpr const char* kHeaderTips[] = {
    "The node's name in the file; in a body, after the name of the node that has the body",
    "Operator",
    "The fused node that runs it, by its main node",
    "The segment it is in",
    "The type it calculates in; its operands in memory are read in it",
    ("The type in which its result is stored in memory; inner: it exists only in registers and is never stored; wider: "
     "there in a wider type than its kernel calculates in"),
    "The requested type; double click to choose one. Several selected rows are pinned at once",
    "Floating-point operations; a multiply-add counts as two",
    "Bytes of inputs and outputs",
    "Measured time of the whole fused node, at its main node",
    ("The error that the whole fused node adds on exact inputs: max|Δ| over rms / relative L2 against float32, or "
     "float64 where the run says so, at its main node. Values that are stored as codes are judged by the relative L2"),
    "The error of the fused node if all nodes before it are lowered as well",
};

QString quotedText(const QString& field) {
  if (!field.contains(QLatin1Char(',')) && !field.contains(QLatin1Char('"')) && !field.contains(QLatin1Char('\n')))
    return field;
  QString doubled = field;
  doubled.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + doubled + QLatin1Char('"');
}

/// Sums over rows, which are nothing if one of the numbers is unknown. Times are summed over the kernels that have one.
struct RowSums {
  std::int64_t rows = 0;
  std::optional<double> flops = 0, bytes = 0;
  double ms = 0;
  std::int64_t kernels = 0, timed = 0;
  bool measured = true;  ///< whether every summed time was measured in a run of this plan

  /// Adds a row. `node` says whether it is the row of a node, and `kernel` whether it contains the time and bytes of
  /// its kernel. Values between the nodes of a kernel are not moved, so that the bytes of nodes cannot be summed.
  void add(const LayerView& view, const ShownTime& time, bool node, bool kernel,
           const std::optional<double>& kernelBytes) {
    rows += node;
    kernels += kernel;
    if (kernel) bytes = bytes && kernelBytes ? std::optional(*bytes + *kernelBytes) : std::nullopt;
    if (kernel && time.known()) {
      ++timed;
      ms += time.ms;
      measured = measured && time.kind == TimeKind::Measured;
    }
    if (node) flops = flops && view.flops ? std::optional(*flops + *view.flops) : std::nullopt;
  }
  /// If only some kernels have times, the text says so.
  QString timeText() const {
    if (timed == 0) return {};
    const QString sum = (measured ? QStringLiteral(", ") : QStringLiteral(", ≈ ")) + msText(ms);
    return timed == kernels
               ? sum
               : sum + QStringLiteral(" for %1 of %2").arg(timed).arg(plural(kernels, QStringLiteral("kernel")));
  }
  QString text() const {
    const auto whole = [](const std::optional<double>& number) {
      return number ? std::optional<std::int64_t>(static_cast<std::int64_t>(*number)) : std::nullopt;
    };
    return QStringLiteral("%1: %2 FLOPs, %3 moved by kernels%4")
        .arg(plural(rows, QStringLiteral("node")), countText(whole(flops)), bytesText(whole(bytes)), timeText());
  }
};

Which whichOf(int column) {
  return column == LayersModel::kLocal ? &LocalAndCarried::local : &LocalAndCarried::carried;
}

QString errorTip(const ShownError& shown, Which which, const ShownErrors& all) {
  const auto& error = shown.errors.*which;
  if (!error) return {};
  const QString made =
      shown.kind == ErrorKind::OfOtherPlan ? QStringLiteral("%1, a run of another plan") : QStringLiteral("%1");
  return QStringList{errorFactsText(*error), roleText(shown, all.bound), made.arg(all.made)}.join(QLatin1Char('\n'));
}

Tone errorTone(const ShownError& shown, Which which, const ShownErrors& all) {
  return isWrong(levelOf(shown, which, all.bound)) ? Tone::Bad : Tone::Dim;
}

}  // namespace

QString LayersModel::totalsText() const {
  RowSums own, inside;
  for (const std::uint32_t row : m_rows) {
    const Row& view = m_views[row];
    (view.level == 0 ? own : inside).add(view.view, view.time, view.node.valid(), view.root, view.kernelBytes);
  }
  if (m_levels.size() < 2) return own.text();
  if (inside.rows == 0) return QStringLiteral("%1 · bodies are not counted").arg(own.text());
  return QStringLiteral("%1 · not counted: in bodies %2, each body once").arg(own.text(), inside.text()) +
         (inside.timed > 0 ? QStringLiteral(" (the time of all its calls, which its holder's includes)") : QString());
}

QString LayersModel::text(const Row& row, int column) const {
  const auto whole = [](const std::optional<double>& number) {
    return number ? std::optional<std::int64_t>(static_cast<std::int64_t>(*number)) : std::nullopt;
  };
  switch (column) {
    case kNode:
      return row.view.node;
    case kOp:
      return row.view.op;
    case kFused:
      return row.view.isFused || m_levels[row.level].snapshot->made() != nullptr ? row.view.fused : QString();
    case kSegment:
      return row.view.segment;
    case kCompute:
      return row.view.dtype;
    case kStored:
      return row.stored;
    case kPin:
      return row.pin;
    case kFlops:
      return countText(whole(row.view.flops));
    case kBytes:
      return bytesText(whole(row.view.bytes));
    case kTime:
      return row.time.kind == TimeKind::Unknown ? QString() : timeText(row.time);
    case kLocal:
    case kCarried:
      return errorPairText(row.error, whichOf(column), m_errors.bound);
    default:
      return {};
  }
}

QVariant LayersModel::toolTip(const Row& row, int column) const {
  if (column == kFused)
    return row.predicted
               ? fusedNameOf(row) + QStringLiteral("\npredicted: the target's compiler fuses by its own rules")
               : fusedNameOf(row);
  if (column == kCompute && !row.kernelTypes.isEmpty())
    return QStringLiteral("%1; its kernel calculates in %2").arg(row.view.dtype, row.kernelTypes);
  if (column == kTime && row.time.kind != TimeKind::Unknown) {
    const QString calls =
        row.level > 0 ? QStringLiteral("; in one run of the network: all calls of its body together") : QString();
    return kindText(row.time.kind, m_times.made) + calls;
  }
  if (column == kTime) {
    if (!m_timesUnknown.isEmpty()) return m_timesUnknown;
    if (row.root && m_snapshot->made() != nullptr)
      return QStringLiteral("No run measured it, and its compiler reported no time.");
    if (row.root && row.level > 0 && !m_times.empty()) return QStringLiteral("Its body did not run.");
    return row.root ? QStringLiteral("Not measured yet: build an engine.")
                    : QStringLiteral("Measured with its fused node, at %1.").arg(row.view.fused);
  }
  if (column == kLocal || column == kCarried) return errorTip(row.error, whichOf(column), m_errors);
  if (const CostRange* range = row.node.valid() ? m_levels[row.level].snapshot->rangeOf(row.node) : nullptr;
      range != nullptr && (column == kFlops || column == kBytes)) {
    const auto text = [&](const CostAt& at) { return column == kFlops ? countText(at.flops) : bytesText(at.bytes); };
    return QStringLiteral("%1; %2 at the smallest and the largest extents of the inputs")
        .arg(this->text(row, column), rangeText(text(range->least), text(range->most)));
  }
  if (column == kPin) {
    const QString refusal = pinRefusalOf(row);
    return refusal.isEmpty()
               ? QStringLiteral("Double click to pin. Ctrl+click or Shift+click rows to pin several at once.")
               : refusal;
  }
  return text(row, column);
}

/// Returns the name from which the name in the cell must remain distinguishable when it is shortened.
QString LayersModel::twinOf(const Row& row, int column) const {
  const PlanSnapshot::Level& level = m_levels[row.level];
  const FusedNode* fused = column == kFused && level.snapshot->made() == nullptr ? row.fused : nullptr;
  const NodeId named = column == kNode ? row.node : fused != nullptr ? fused->root : NodeId();
  const std::string twin = named.valid() ? level.snapshot->twinName(named) : std::string();
  return twin.empty() ? QString() : qs(level.path.of(twin));
}

QVariant LayersModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rowAt(index.row());
  const bool number = index.column() >= kFlops;
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == kNode && !m_failing.isEmpty() && row.view.node == m_failing)
        return QStringLiteral("✗ ") + row.view.node;
      return text(row, index.column());
    case Qt::ToolTipRole:
      return tipText(toolTip(row, index.column()).toString());
    case Qt::TextAlignmentRole:
      return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kNameRole:
      return row.node.valid() ? row.view.node : qs(handleOf(*row.fused));
    case kTwinRole:
      return twinOf(row, index.column());
    case kToneRole: {
      if (index.column() == kNode && !m_failing.isEmpty() && row.view.node == m_failing)
        return static_cast<int>(Tone::Bad);
      const bool differs = index.column() == kCompute && row.view.pinned && !row.pin.startsWith(row.view.dtype);
      if (differs) return static_cast<int>(Tone::Warning);
      if (index.column() == kSegment && row.view.fallback) return static_cast<int>(Tone::Warning);
      if (index.column() == kPin) return static_cast<int>(Tone::Good);
      if (index.column() == kLocal || index.column() == kCarried)
        return static_cast<int>(errorTone(row.error, whichOf(index.column()), m_errors));
      return static_cast<int>(index.column() == kNode ? Tone::Plain : Tone::Dim);
    }
    default:
      return {};
  }
}

QVariant LayersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::DisplayRole) return QString::fromLatin1(kHeaders[section]);
  if (role == Qt::ToolTipRole) return QString::fromLatin1(kHeaderTips[section]);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((section >= kFlops ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

Qt::ItemFlags LayersModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = QAbstractTableModel::flags(index) | Qt::ItemNeverHasChildren;
  if (index.column() == kPin && pinRefusalOf(rowAt(index.row())).isEmpty()) flags |= Qt::ItemIsEditable;
  return flags;
}

QString LayersModel::csv() const {
  QString out = QStringLiteral(
      "node,op,fused_node,segment,compute,stored,pin,flops,bytes,time_ms,local_max_over_rms,local_rel_l2,"
      "carried_max_over_rms,carried_rel_l2\n");
  const auto number = [](const std::optional<double>& value) {
    return value ? QString::number(*value, 'g', 15) : QString();
  };
  for (const std::uint32_t view : m_rows) {
    const Row& row = m_views[view];
    const auto error = [&](Which which, double TensorError::*field) {
      const auto& of = row.error.errors.*which;
      return of && of->isMeaningful() ? QString::number((*of).*field, 'g', 15) : QString();
    };
    const QStringList fields{quotedText(row.view.node),
                             quotedText(row.view.op),
                             quotedText(fusedNameOf(row)),
                             quotedText(row.view.segment),
                             row.view.dtype,
                             row.stored,
                             quotedText(row.pin),
                             number(row.view.flops),
                             number(row.view.bytes),
                             number(row.view.ms),
                             error(&LocalAndCarried::local, &TensorError::maxOverRms),
                             error(&LocalAndCarried::local, &TensorError::relL2),
                             error(&LocalAndCarried::carried, &TensorError::maxOverRms),
                             error(&LocalAndCarried::carried, &TensorError::relL2)};
    out += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return out;
}

}  // namespace fusescope
