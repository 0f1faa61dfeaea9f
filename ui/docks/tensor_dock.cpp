#include "ui/docks/tensor_dock.h"

#include <QHBoxLayout>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "session/operations/tensor_operation.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/option_fields.h"

namespace fusescope {

namespace {

const QString kFactsTag = QStringLiteral("tensor facts"), kSlicesTag = QStringLiteral("tensor slices");

/// If a page is wider than this many times its height, its parts are side by side.
constexpr double kWide = 1.4;

}  // namespace

TensorDock::TensorDock(const DockContext& context)
    : Dock(context),
      m_tensors(new QComboBox),
      m_mark(new QComboBox),
      m_fetch(new QPushButton(QStringLiteral("Run for its values"))),
      m_largest(new QPushButton(QStringLiteral("Go to the largest difference"))),
      m_sample(new QSpinBox),
      m_status(new QLabel),
      m_element(new QLabel),
      m_chooser(new SliceChooser),
      m_statistics(new QTextBrowser),
      m_histogram(new HistogramPlot(context.theme)),
      m_views{new SliceView(context.theme), new SliceView(context.theme), new SliceView(context.theme)} {
  m_stack = new HintStack(makePage(), QString());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeTools());
  layout->addWidget(m_stack, 1);
  connect(&context.document, &PlanDocument::planChanged, this, [this] { refresh(kChoices | kTools); });
  connect(&context.selection, &Selection::changed, this, [this] { refresh(kChoices | kTools); });
  connect(&context.runs, &Runs::settingsChanged, this, [this] { refresh(kTools); });
  connect(&context.controller, &RunController::activityChanged, this, [this] { refresh(kTools); });
  connect(&context.controller, &RunController::valueFetched, this, &TensorDock::take);
  connect(m_tensors, qOverload<int>(&QComboBox::activated), this, [this] {
    show();
    renewTools();
  });
  connect(m_fetch, &QPushButton::clicked, this, [this] {
    if (choice() == nullptr) return;
    m_asked = true;
    m_fetchedOf = m_context.document.snapshot()->plan;
    m_context.controller.fetchValue(choice()->name, m_sample->value());
  });
  connect(m_mark, qOverload<int>(&QComboBox::activated), this, [this] {
    showHistogram();
    showSlices();
  });
  connect(m_largest, &QPushButton::clicked, this, &TensorDock::goToLargest);
  connect(m_chooser, &SliceChooser::changed, this, &TensorDock::renewSlices);
  for (SliceView* view : m_views)
    connect(view, &SliceView::pointedAt, this, [this, view](QPoint cell) { pointAt(*view, cell); });
}

QWidget* TensorDock::makeTools() {
  m_tensors->setAccessibleName(QStringLiteral("Tensor"));
  m_tensors->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_tensors->setMinimumWidth(220);
  m_sample->setPrefix(QStringLiteral("sample "));
  describe(*m_sample, usualOption<TensorSettings>("sample"));
  m_sample->setAccessibleName(QStringLiteral("Number of the sample"));
  m_mark->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_mark->setAccessibleName(QStringLiteral("Mark what becomes infinite in"));
  m_status->setForegroundRole(QPalette::PlaceholderText);
  m_status->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_status->setMinimumWidth(160);
  return toolRow({m_tensors, m_fetch, m_sample, m_mark, m_largest, m_status}, this, 0);
}

QWidget* TensorDock::makePage() {
  m_statistics->setFrameShape(QFrame::NoFrame);
  m_statistics->document()->setDocumentMargin(8);
  m_statistics->setAccessibleName(QStringLiteral("Statistics of the tensor"));
  m_statistics->setMinimumWidth(110);
  m_histogram->setAccessibleName(QStringLiteral("Histogram of the tensor"));
  m_histogram->setMinimumSize(90, 80);
  m_element->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_element->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_element->setAccessibleName(QStringLiteral("Element"));
  auto* page = new QWidget;
  m_row = new QBoxLayout(QBoxLayout::LeftToRight, page);
  m_row->setContentsMargins(0, 0, 8, 4);
  m_row->setSpacing(8);
  m_row->addWidget(m_statistics, 4);
  m_row->addWidget(m_histogram, 2);
  auto* images = new QVBoxLayout;
  images->setSpacing(4);
  images->addWidget(m_chooser);
  auto* views = new QHBoxLayout;
  views->setSpacing(8);
  for (SliceView* view : m_views) views->addWidget(view, 1);
  images->addLayout(views, 1);
  images->addWidget(m_element);
  m_row->addLayout(images, 6);
  return page;
}

void TensorDock::resizeEvent(QResizeEvent* event) {
  Dock::resizeEvent(event);
  const bool wide = event->size().width() > kWide * event->size().height();
  m_row->setDirection(wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void TensorDock::renew(Parts parts) {
  if ((parts & kChoices) != 0) renewChoices();
  renewTools();
  if ((parts & kTheme) == 0) return;
  if (m_facts) m_statistics->setHtml(tensorHtml(*m_facts, m_context.theme()));
  for (QWidget* widget : std::initializer_list<QWidget*>{m_histogram, m_views[0], m_views[1], m_views[2]})
    widget->update();
}

/// When another node is selected, a tensor of the same kind remains chosen.
void TensorDock::renewChoices() {
  const TensorChoice* before = choice();
  const auto kind = before == nullptr ? TensorChoice::Kind::Weight : before->kind;
  const std::string name = before == nullptr ? std::string() : before->name;
  const auto snapshot = m_context.document.snapshot();
  m_choices = snapshot ? tensorChoices(*snapshot, m_context.selection) : std::vector<TensorChoice>();
  m_tensors->clear();
  for (const TensorChoice& choice : m_choices) m_tensors->addItem(choice.label);
  auto chosen = std::ranges::find(m_choices, name, &TensorChoice::name);
  if (chosen == m_choices.end()) chosen = std::ranges::find(m_choices, kind, &TensorChoice::kind);
  if (chosen == m_choices.end()) chosen = m_choices.begin();
  m_tensors->setToolTip(m_choices.size() < kMostChoices
                            ? QString()
                            : QStringLiteral("The first %1 tensors of the selection: select fewer nodes to see others")
                                  .arg(static_cast<qulonglong>(kMostChoices)));
  m_tensors->setCurrentIndex(m_choices.empty() ? -1 : static_cast<int>(chosen - m_choices.begin()));
  show();
}

const TensorChoice* TensorDock::choice() const {
  const int index = m_tensors->currentIndex();
  return index >= 0 && index < static_cast<int>(m_choices.size()) ? &m_choices[static_cast<std::size_t>(index)]
                                                                  : nullptr;
}

void TensorDock::renewTools() {
  const TensorChoice* chosen = choice();
  const bool made = chosen != nullptr && !chosen->constant;
  m_fetch->setVisible(made);
  m_sample->setVisible(made);
  const QString refusal = made && !chosen->refusal.isEmpty() ? chosen->refusal : m_context.controller.valueRefusal();
  offer(*m_fetch, refusal,
        QStringLiteral("Run the network in float32, and the plan on screen, on this sample until both have made it"));
  const bool asking = std::exchange(m_asked, m_asked && m_context.controller.busy());
  const QString problem = asking && !m_asked ? m_context.controller.problem() : QString();
  if (!problem.isEmpty()) m_stack->setHint(QStringLiteral("✗ ") + problem);
  m_status->setText(m_asked ? m_context.controller.activity() : whereFrom());
  m_status->setToolTip(tipText(m_status->text()));
  const bool differs = m_facts && m_facts->difference && m_facts->difference->unavailable.empty();
  m_largest->setVisible(differs);
  offer(*m_largest, differs && m_facts->difference->maxAbs > 0 ? QString() : QStringLiteral("Both are equal."),
        QStringLiteral("Show the slice in which the two differ most, and point at the element"));
}

std::vector<std::pair<QString, Tensor>> TensorDock::tensorsNow() const {
  const TensorChoice* chosen = choice();
  if (chosen == nullptr) return {};
  if (chosen->constant) return {{qs(chosen->constant->type()), *chosen->constant}};
  const auto snapshot = m_context.document.snapshot();
  if (!m_fetched || m_fetched->value != chosen->name || !snapshot || m_fetchedOf != snapshot->plan) return {};
  std::vector<std::pair<QString, Tensor>> tensors;
  if (m_fetched->exact) tensors.emplace_back(QStringLiteral("float32"), *m_fetched->exact);
  if (m_fetched->planned)
    tensors.emplace_back(QStringLiteral("this plan, %1").arg(qs(m_fetched->stored)) +
                             (m_fetched->codes ? QStringLiteral(" codes as numbers") : QString()),
                         *m_fetched->planned);
  return tensors;
}

QString TensorDock::whereFrom() const {
  if (!m_facts || choice() == nullptr || choice()->constant || !m_fetched) return {};
  QStringList said{m_fetched->randomInputs ? QStringLiteral("⚠ on random inputs")
                                           : QStringLiteral("on sample %1, one of %2")
                                                 .arg(qs(m_fetched->sample))
                                                 .arg(static_cast<qlonglong>(m_fetched->samples))};
  if (!m_fetched->whyNoExact.empty()) said << QStringLiteral("not in float32: %1").arg(qs(m_fetched->whyNoExact));
  if (!m_fetched->whyNoPlanned.empty()) said << QStringLiteral("not in this plan: %1").arg(qs(m_fetched->whyNoPlanned));
  return said.join(QStringLiteral("; "));
}

void TensorDock::take(const std::shared_ptr<const ValueOfBoth>& value) {
  m_fetched = value;
  m_asked = false;
  show();
  refresh(kTools);
}

QString TensorDock::hint() {
  catchUp();
  return m_stack->currentIndex() == 0 ? static_cast<QLabel*>(m_stack->widget(0))->text() : QString();
}

void TensorDock::show() {
  m_facts.reset();
  m_slices.reset();
  const TensorChoice* chosen = choice();
  auto tensors = tensorsNow();
  m_context.jobs.cancel(kFactsTag);
  m_context.jobs.cancel(kSlicesTag);
  if (tensors.empty()) {
    m_stack->setHint(!m_context.document.snapshot() ? QStringLiteral("Open a model to see its tensors.")
                     : chosen == nullptr ? QStringLiteral("Select a node to see its weights, inputs and results.")
                     : !chosen->refusal.isEmpty()
                         ? chosen->refusal
                         : QStringLiteral("Its values come from a run: press “Run for its values” to run the network "
                                          "in float32 and with this plan until both have calculated it."));
    m_stack->showContent(false);
    return renewTools();
  }
  m_context.jobs.run(
      kFactsTag, this, [tensors = std::move(tensors)](const StopToken& stop) { return tensorFacts(tensors, stop); },
      [this](const std::shared_ptr<const TensorFacts>& facts) {
        m_facts = facts;
        if (facts) showFacts();
      });
}

void TensorDock::showFacts() {
  m_statistics->setHtml(tensorHtml(*m_facts, m_context.theme()));
  const QString marked = m_mark->currentText();
  m_mark->clear();
  m_mark->addItem(QStringLiteral("mark only NaN and ∞"), static_cast<int>(DataType::Undefined));
  for (const DataType type : narrowTypesFor(m_facts->shown.front().tensor.type()))
    m_mark->addItem(QStringLiteral("mark ∞ in %1").arg(qs(type)), static_cast<int>(type));
  m_mark->setCurrentIndex(marked.isEmpty() ? m_mark->count() - 1 : std::max(0, m_mark->findText(marked)));
  m_mark->setEnabled(m_mark->count() > 1);
  showHistogram();
  const bool pictures = !m_facts->sliced.empty();
  m_chooser->setVisible(pictures);
  m_element->clear();
  if (pictures) {
    m_chooser->setDims(m_facts->sliced.front().tensor.dims());
    renewSlices();
  } else {
    m_slices = std::make_shared<TensorSlices>();
    showSlices();
  }
  m_stack->showContent(true);
  renewTools();
}

DataType TensorDock::marked() const {
  return static_cast<DataType>(m_mark->currentData().toInt());
}

void TensorDock::showHistogram() {
  if (!m_facts) return;
  const ShownTensor& first = m_facts->shown.front();
  const auto histogram = tensorHistogram(first.statistics, marked());
  if (histogram) {
    m_histogram->setNumbers(qs(first.title), histogram->numbers, histogram->words);
  } else {
    m_histogram->clear(QStringLiteral("There is no finite number."));
  }
}

void TensorDock::renewSlices() {
  if (!m_facts || m_facts->sliced.empty()) return;
  const auto work = [facts = m_facts, choice = m_chooser->choice()](const StopToken& stop) {
    return tensorSlices(*facts, choice, stop);
  };
  m_context.jobs.run(kSlicesTag, this, work, [this](const std::shared_ptr<const TensorSlices>& slices) {
    if (!slices) return;
    m_slices = slices;
    showSlices();
  });
}

/// Both runs have the same scale of colours; their difference has another one.
void TensorDock::showSlices() {
  if (!m_facts || !m_slices) return;
  const auto isDifference = [&](std::size_t i) {
    return m_facts->difference && m_facts->difference->unavailable.empty() && i + 1 == m_slices->size();
  };
  double scale = 0;
  for (std::size_t i = 0; i < m_slices->size(); ++i)
    if (!isDifference(i)) scale = std::max({scale, -(*m_slices)[i]->least, (*m_slices)[i]->most});
  for (std::size_t i = 0; i < m_views.size(); ++i) {
    m_views[i]->setVisible(i < std::max<std::size_t>(1, m_slices->size()));
    if (i >= m_slices->size()) {
      m_views[i]->clear(QStringLiteral("There are no numbers to draw."));
      continue;
    }
    const auto& slice = (*m_slices)[i];
    const double own = isDifference(i) ? std::max(-slice->least, slice->most) : scale;
    QString title = qs(m_facts->sliced[i].title);
    if (slice->blockRows * slice->blockColumns > 1)
      title += QStringLiteral(" · largest of each %1 × %2")
                   .arg(static_cast<qlonglong>(slice->blockRows))
                   .arg(static_cast<qlonglong>(slice->blockColumns));
    m_views[i]->setSlice(title, slice, own, isDifference(i) ? DataType::Undefined : marked());
  }
  if (const QPoint wanted = std::exchange(m_wanted, QPoint(-1, -1)); wanted.x() >= 0)
    pointAt(*m_views[m_slices->size() - 1], wanted);
}

void TensorDock::pointAt(const SliceView& view, QPoint cell) {
  for (SliceView* each : m_views) each->setCurrent(cell);
  const TensorSlice* slice = view.slice();
  if (slice == nullptr || !m_facts || cell.x() < 0) return m_element->clear();
  const std::int64_t element = slice->elements[slice->cell(cell.y(), cell.x())];
  QStringList said{qs(indexText(m_facts->sliced.front().tensor.dims(), element))};
  for (const ShownTensor& shown : m_facts->sliced) {
    QString text = QStringLiteral("%1: %2").arg(qs(shown.title), qs(elementText(shown.tensor, element)));
    const NarrowFate fate = fateIn(marked(), shown.tensor.asDouble(element));
    if (&shown == &m_facts->sliced.front() && fate != NarrowFate::Kept)
      text += (fate == NarrowFate::Overflows    ? QStringLiteral(" (⚠ infinite in %1)")
               : fate == NarrowFate::Underflows ? QStringLiteral(" (becomes 0 in %1)")
                                                : QStringLiteral(" (denormal in %1)"))
                  .arg(qs(marked()));
    said << text;
  }
  m_element->setText(said.join(QStringLiteral("   ")));
  m_element->setToolTip(tipText(m_element->text()));
}

void TensorDock::goToLargest() {
  if (!m_facts || !m_facts->difference || m_facts->difference->at < 0) return;
  const Dims& dims = m_facts->difference->tensor.dims();
  SliceChoice choice = m_chooser->choice();
  std::int64_t rest = m_facts->difference->at;
  std::vector<std::int64_t> indices(dims.size(), 0);
  for (std::size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) indices[axis] = rest % dims[axis];
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (static_cast<int>(axis) != choice.rows && static_cast<int>(axis) != choice.columns)
      choice.at[axis] = indices[axis];
  const TensorSlice& shown = *m_slices->back();
  const auto cellOf = [&](int axis, std::int64_t block) {
    return axis < 0 ? 0 : static_cast<int>(indices[static_cast<std::size_t>(axis)] / block);
  };
  m_wanted = {cellOf(choice.columns, shown.blockColumns), cellOf(choice.rows, shown.blockRows)};
  m_chooser->choose(choice);
  renewSlices();
}

extern const DockForm kTensorDock{"Tensor", "Ctrl+9", Qt::BottomDockWidgetArea,
                                  [](const DockContext& context) -> Dock* { return new TensorDock(context); }};

}  // namespace fusescope
