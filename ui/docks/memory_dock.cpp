#include "ui/docks/memory_dock.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <utility>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns the pieces that exist at a step, the largest first, with a bar for their share of the used memory.
TableContent piecesContent(const MemoryTimeline* memory, int step) {
  TableContent content{{"What is there", "Bytes", "Steps"}, {}, {}};
  if (memory == nullptr || step < 0) return content;
  const auto pieces = memory->at(static_cast<std::size_t>(step));
  for (const MemoryTimeline::Piece* piece : pieces) {
    const QString name = qs(piece->name);
    content.rows.push_back({name,
                            {{.text = piece->isScratch ? QStringLiteral("scratch of %1").arg(name) : name,
                              .tip = piece->isScratch ? QStringLiteral("What %1 needs while it runs").arg(name) : name},
                             {.text = bytesText(piece->bytes),
                              .sort = static_cast<qlonglong>(piece->bytes),
                              .bar = static_cast<double>(piece->bytes) / static_cast<double>(pieces.front()->bytes),
                              .number = true},
                             {.text = piece->first == piece->last ? QString::number(piece->first)
                                                                  : QStringLiteral("%1 – %2")
                                                                        .arg(static_cast<qulonglong>(piece->first))
                                                                        .arg(static_cast<qulonglong>(piece->last)),
                              .sort = static_cast<qlonglong>(piece->first)}}});
  }
  return content;
}

}  // namespace

MemoryDock::MemoryDock(const DockContext& context)
    : Dock(context), m_facts(new QLabel), m_plot(new MemoryPlot(context.theme)), m_view(new QTableView) {
  m_facts->setWordWrap(true);
  m_facts->setTextFormat(Qt::RichText);
  m_view->setModel(&m_pieces);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Contents of the memory at this step"));
  m_pieces.setContent(piecesContent(nullptr, -1));
  styleTable(*m_view, {0, 96, 70}, false);
  auto* page = new QWidget;
  auto* row = new QHBoxLayout(page);
  row->setContentsMargins(8, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(m_plot, 3);
  row->addWidget(m_view, 2);
  m_stack = new HintStack(page, QString());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(toolRow({m_facts}, this, 0));
  layout->addWidget(m_stack, 1);
  connect(&context.runs, &Runs::shownChanged, this, [this] { refresh(kRun); });
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (shownRun(id) != nullptr) refresh(kRun);
  });
  connect(&context.document, &PlanDocument::planChanged, this, [this] { refresh(kRun | kSelection); });
  connect(&context.selection, &Selection::changed, this, [this](const QObject*) { refresh(kSelection); });
  connect(m_plot, &MemoryPlot::chosen, this, &MemoryDock::choose);
  connect(m_view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
}

QString MemoryDock::whyUnknown(const Run* run) {
  if (run == nullptr) return QStringLiteral("Build the plan to see the contents of its memory while it runs.");
  const QString title = Runs::title(*run);
  if (run->working()) return QStringLiteral("%1 is being made.").arg(title);
  if (run->options.compiler != kOwnCompiler)
    return QStringLiteral("%1 was compiled by %2, which does not report the contents of its memory.")
        .arg(title, qs(run->options.compiler));
  return QStringLiteral(
             "The contents of the memory of %1 are not known: it was not timed, or by an earlier version. Build it "
             "again.")
      .arg(title);
}

QString MemoryDock::hint() {
  catchUp();
  return m_stack->currentIndex() == 0 ? static_cast<QLabel*>(m_stack->widget(0))->text() : QString();
}

void MemoryDock::renew(Parts parts) {
  if ((parts & (kRun | kTheme)) != 0) renewRun();
  renewMarks();
  if ((parts & kTheme) != 0) m_plot->update();
}

void MemoryDock::renewRun() {
  const Run* run = m_context.runs.shown();
  const auto memory = run != nullptr && run->time ? run->time->memory : SharedOptional<MemoryTimeline>();
  if (!memory.isSameObject(m_memory)) {
    m_memory = memory;
    m_plot->setMemory(memory);
    showPieces();
  }
  const bool known = memory && !m_plot->usedBytes().empty();
  m_facts->setText(known ? factsText(*run) : QString());
  m_stack->setHint(memory && !known ? QStringLiteral("The engine of %1 has no steps.").arg(Runs::title(*run))
                                    : whyUnknown(run));
  m_stack->showContent(known);
}

QString MemoryDock::factsText(const Run& run) const {
  const MemoryTimeline& memory = *std::as_const(m_memory);
  QString text = QStringLiteral("<b>%1</b>").arg(Runs::title(run).toHtmlEscaped());
  if (!m_context.runs.ofThisPlan(run))
    text += QStringLiteral(" <span style='color:%1'>· of another plan than the one on screen</span>")
                .arg(m_context.theme().warning.name());
  text +=
      QStringLiteral(" · peak <b>%1</b> at step %2, %3 · arena %4 · inputs and outputs, %5, and weights are outside")
          .arg(bytesText(m_plot->usedBytes()[m_plot->peak()]))
          .arg(static_cast<qulonglong>(m_plot->peak()))
          .arg(html(memory.steps[m_plot->peak()].name), bytesText(memory.arenaBytes), bytesText(memory.callerBytes));
  if (memory.boxed > 0)
    text += QStringLiteral(" · %1 left out: extents are known only while it runs")
                .arg(plural(memory.boxed, QStringLiteral("value")));
  if (memory.holders > 0)
    text += QStringLiteral(" · memory in bodies of %1 left out").arg(plural(memory.holders, QStringLiteral("step")));
  return text;
}

/// Marks the steps that run a kernel of the selection.
void MemoryDock::renewMarks() {
  const auto snapshot = m_context.document.snapshot();
  std::set<std::string> kernels;
  if (snapshot)
    for (const NodeId node : m_context.selection.nodes())
      for (const FusedNode* fused : snapshot->kernelsOf(node)) kernels.insert(fused->identity.hex());
  std::set<int> steps;
  if (m_memory && !kernels.empty())
    for (std::size_t step = 0; step < std::as_const(m_memory)->steps.size(); ++step)
      if (kernels.contains(std::as_const(m_memory)->steps[step].identity)) steps.insert(static_cast<int>(step));
  m_plot->setMarked(std::move(steps));
}

void MemoryDock::choose(int step) {
  m_plot->setCurrent(step);
  showPieces();
  select(std::as_const(m_memory)->steps[static_cast<std::size_t>(step)]);
}

void MemoryDock::showPieces() {
  m_pieces.setContent(piecesContent(m_memory ? &*std::as_const(m_memory) : nullptr, m_plot->current()));
}

void MemoryDock::select(const MemoryTimeline::Step& step) {
  const QString name = qs(step.name);
  goTo(m_context, step.identity.empty() ? name.section(QStringLiteral(": "), 0, 0) : name, this);
}

extern const DockForm kMemoryDock{"Memory", "Alt+8", Qt::BottomDockWidgetArea,
                                  [](const DockContext& context) -> Dock* { return new MemoryDock(context); }};

}  // namespace fusescope
