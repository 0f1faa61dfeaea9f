#include "ui/dialogs/cache_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMessageBox>
#include <QVBoxLayout>

#include "base/age.h"
#include "base/text.h"
#include "cache/collect_kept.h"
#include "cache/kept_file.h"
#include "cache/process_store.h"
#include "cache/timing_cache.h"
#include "compilers/probed/kept_decisions.h"
#include "compilers/probed/network_digests.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/probed/why_kept.h"
#include "engine/kept_times.h"
#include "session/inputs/random_inputs.h"
#include "session/operations/cache_operation.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

const QString kCacheTag = QStringLiteral("cache"), kSharedTag = QStringLiteral("shared cache");
constexpr int kCacheWidthInLetters = 120, kCacheHeightInLines = 26;
const QString kKeptFiles = QStringLiteral("Kept answers (*.fscache);;All files (*)");

Cell number(const QString& text, double sort) {
  return {.text = text, .sort = sort, .number = true};
}

TableContent contentOf(const std::vector<StoreEntry>& entries) {
  TableContent content{
      .headers = {QStringLiteral("Kind"), QStringLiteral("What"), QStringLiteral("On disk"), QStringLiteral("Age"),
                  QStringLiteral("Took"), QStringLiteral("Found"), QStringLiteral("Saved"), QStringLiteral("Made by")},
      .headerTips = {},
      .rows = {}};
  const std::int64_t now = secondsNow();
  for (const StoreEntry& entry : entries) {
    const QString about = qs(entry.facts.about);
    const auto stored = static_cast<std::int64_t>(entry.size.stored);
    content.rows.push_back(
        {.name = qs(entry.blob),
         .cells = {{.text = qs(entry.facts.kind)},
                   {.text = about, .tip = tipText(about)},
                   number(bytesText(stored), static_cast<double>(stored)),
                   number(qs(ageInWords(entry.madeAt, now)), static_cast<double>(now - entry.madeAt)),
                   number(msText(entry.facts.madeMs), entry.facts.madeMs),
                   number(QString::number(entry.hits), static_cast<double>(entry.hits)),
                   number(msText(entry.savedMs), entry.savedMs),
                   {.text = qs(entry.facts.madeBy), .tip = tipText(qs(entry.facts.madeBy))}}});
  }
  return content;
}

/// Returns a line such as "answer: 12 entries, 3.00 MiB; loading one takes 1.20 ms + 3.00 ms a MiB".
QString kindText(const KindStatistics& kind) {
  const QString text = QStringLiteral("%1: %2, %3; loading one takes %4")
                           .arg(qs(kind.record.kind), qs(entriesText(kind.entries)), bytesText(kind.stored),
                                qs(inWords(kind.record.load)));
  const std::string notKept = notKeptText(kind);
  return notKept.empty() ? text : QStringLiteral("%1; %2").arg(text, qs(notKept));
}

QString keptText(const KeptContents& kept) {
  QStringList lines{QStringLiteral("%1: %2, %3 of at most %4; entries that were found saved %5")
                        .arg(qs(kept.folder.string()), plural(std::ssize(kept.entries), QStringLiteral("answer")),
                             bytesText(kept.bytes), bytesText(kept.limit), msText(kept.savedMs))};
  for (const KindStatistics& kind : kept.kinds) lines << kindText(kind);
  const KeptTimesFile& times = kept.times;
  if (!times.path.empty())
    lines << QStringLiteral("%1: %2, %3")
                 .arg(qs(times.path.string()), qs(timesText(times.times)), bytesText(times.bytes));
  if (!times.problem.empty()) lines.back() += QStringLiteral("; ✗ ") + qs(times.problem);
  return lines.join(QLatin1Char('\n'));
}

std::string whyText(const WhyAllKept& why) {
  if (!why.whyNot.empty()) return why.whyNot;
  std::string text;
  for (const WhyKept& each : why.questions) {
    text += (text.empty() ? "" : "\n") + (each.what == each.op ? each.what : each.op + " of " + each.what) +
            (each.by.empty() ? ": " : ", as " + each.by + " asks: ");
    if (each.found) {
      text += "found " + placeInWords(each.where) + ", " + ageInWords(each.found->madeAt, secondsNow()) + " old.";
      if (!each.givenUp.empty()) text += " The compiled network is not kept: " + each.givenUp + ".";
      if (each.givenUp.empty() && each.compiled) text += " The compiled network is kept, too.";
    } else if (!each.nearest) {
      text += "not found, and nothing like it is kept.";
    } else {
      std::vector<std::string> fields;
      for (const KeyDifference& differs : differencesBesideParts(each)) fields.push_back(differs.field);
      text += "not found; compared with the nearest one, ";
      if (!each.parts.empty()) text += differenceInWords(each.parts) + " in the network";
      if (!each.parts.empty() && !fields.empty()) text += "; ";
      if (!fields.empty()) text += "these fields of the key differ: " + joined(fields);
      text += ".";
    }
  }
  return text;
}

/// The most regions without kept times that are named.
constexpr std::size_t kMostRegions = 8;

std::string timesText(const std::vector<KeptRegion>& regions) {
  const auto kept = std::ranges::count_if(regions, &KeptRegion::isKept);
  std::string text = "The times of " + std::to_string(kept) + " of " + counted(std::ssize(regions), "distinct region") +
                     " are kept. All code is made again, in milliseconds.";
  std::size_t named = 0;
  for (const KeptRegion& region : regions)
    if (!region.isKept() && named++ < kMostRegions) text += "\n" + region.name + ": " + keptText(region) + ".";
  if (named > kMostRegions) text += "\nand " + std::to_string(named - kMostRegions) + " more.";
  return text;
}

}  // namespace

CacheDialog::CacheDialog(const DockContext& context, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_view(new QTableView),
      m_summary(new QLabel),
      m_said(new QLabel),
      m_limit(new QDoubleSpinBox) {
  setWindowTitle(QStringLiteral("Kept answers of other compilers"));
  const QFontMetrics metrics(font());
  resize(kCacheWidthInLetters * metrics.averageCharWidth(), kCacheHeightInLines * metrics.lineSpacing());
  m_view->setModel(&m_model);
  m_view->setAccessibleName(QStringLiteral("What is kept"));
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_model.setContent(contentOf({}));
  styleTable(*m_view, {110, 0, 90, 90, 90, 70, 90, 160}, true);
  m_stack = new HintStack(m_view, QStringLiteral("Nothing is kept yet. The answers of another compiler to a plan or a "
                                                 "build are kept here and used again by the next one."));
  for (QLabel* label : {m_summary, m_said}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(m_stack, 1);
  layout->addWidget(m_summary);
  layout->addWidget(m_said);
  layout->addWidget(makeButtons());
  connect(&context.jobs, &JobRunner::activityChanged, this, &CacheDialog::renewButtons);
  look({});
  askShared();
}

QWidget* CacheDialog::makeButtons() {
  describeBytes(*m_limit, usualOption<CacheGcSettings>("limit"), 2);
  m_limit->setAccessibleName(QStringLiteral("Keep at most"));
  m_verify = named(
      plainButton(QStringLiteral("&Verify"),
                  QStringLiteral("Reads every entry; damaged ones are deleted, and made again when they are needed")),
      "verify");
  m_collect =
      named(plainButton(
                QStringLiteral("&Tidy up"),
                QStringLiteral(
                    "Removes the entries that save least time per byte, down to the limit, which applies from now on")),
            "collect");
  m_clear = named(plainButton(QStringLiteral("&Remove everything…"),
                              QStringLiteral("All windows and commands must then ask the compilers again")),
                  "clear");
  connect(m_verify, &QPushButton::clicked, this, [this] {
    look([](DiskStore& store) -> Result<std::string> {
      const StoreCheck check = store.verify();
      return check.damaged.empty() ? "Everything was read, and nothing is damaged."
                                   : std::to_string(check.damaged.size()) + " of " + std::to_string(check.entries) +
                                         " were damaged and are deleted: " + check.damaged.front().about + ": " +
                                         check.damaged.front().why + ".";
    });
  });
  connect(m_collect, &QPushButton::clicked, this, [this] {
    look([most = bytesIn(*m_limit).value()](DiskStore& store) -> Result<std::string> {
      const KeptCollected removed = TRY(collectKept(store, timingCachePath(), most));
      return entriesText(removed.entries) + " and " + timesText(removed.times) + " were removed.";
    });
  });
  connect(m_clear, &QPushButton::clicked, this, &CacheDialog::clear);
  m_why = named(plainButton(QStringLiteral("&Why?"),
                            QStringLiteral("Says whether the answers for the plan on screen would be found, and which "
                                           "fields of the key differ from the nearest ones")),
                "why");
  m_export = named(plainButton(QStringLiteral("&Export…"),
                               QStringLiteral("Writes the answers that are valid on other machines into one file")),
                   "export");
  m_import = named(plainButton(QStringLiteral("&Import…"),
                               QStringLiteral("Adds the answers in such a file to those that are kept here")),
                   "import");
  connect(m_why, &QPushButton::clicked, this, &CacheDialog::sayWhy);
  connect(m_export, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Export kept answers"),
                                                      QStringLiteral("kept.fscache"), kKeptFiles);
    if (!path.isEmpty()) exportTo(path.toStdString());
  });
  connect(m_import, &QPushButton::clicked, this, [this] {
    const QString path =
        QFileDialog::getOpenFileName(this, QStringLiteral("Import kept answers"), QString(), kKeptFiles);
    if (!path.isEmpty()) importFrom(path.toStdString());
  });
  auto* close = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  for (QPushButton* button : {m_why, m_export, m_import, m_verify}) layout->addWidget(button);
  layout->addWidget(new QLabel(QStringLiteral("Keep at most")));
  layout->addWidget(m_limit);
  layout->addWidget(m_collect);
  layout->addWidget(m_clear);
  layout->addStretch(1);
  layout->addWidget(close);
  return row;
}

/// Opens the store, does `work` with it if there is any, and then reads its contents.
void CacheDialog::look(const Work& work) {
  m_context.jobs.run(
      kCacheTag, this,
      [work](const StopToken&) {
        Contents contents;
        const auto folder = storeFolder();
        if (!folder.ok()) return Contents{.kept = {}, .problem = folder.error().text()};
        const auto store = DiskStore::open(folder.value());
        if (store->isUsable() && work) {
          auto done = work(*store);
          (done.ok() ? contents.done : contents.problem) = done.ok() ? done.value() : done.error().text();
        }
        contents.kept = keptContents(*store);
        if (contents.problem.empty()) contents.problem = contents.kept.problem;
        return contents;
      },
      [this](const Contents& contents) { show(contents); });
  renewButtons();
}

void CacheDialog::show(const Contents& contents) {
  m_model.setContent(contentOf(contents.kept.entries));
  m_stack->showContent(!contents.kept.entries.empty());
  m_kept = keptText(contents.kept);
  renewSummary();
  m_said->setText(contents.problem.empty() ? qs(contents.done) : QStringLiteral("✗ ") + qs(contents.problem));
  m_said->setVisible(!m_said->text().isEmpty());
  if (contents.kept.limit > 0) setBytes(*m_limit, contents.kept.limit);
  renewButtons();
}

/// Asks the shared place in a job of its own, because it may take long to answer.
void CacheDialog::askShared() {
  m_context.jobs.run(
      kSharedTag, this, [](const StopToken&) { return sharedContents(); },
      [this](const std::optional<SharedContents>& shared) {
        m_shared = shared ? QStringLiteral("shared: %1: %2").arg(qs(shared->place), qs(inWords(*shared))) : QString();
        renewSummary();
      });
}

void CacheDialog::renewSummary() {
  m_summary->setText(m_shared.isEmpty() ? m_kept : m_kept + QLatin1Char('\n') + m_shared);
}

bool CacheDialog::working() const {
  return m_context.jobs.busy(kCacheTag);
}

void CacheDialog::renewButtons() {
  const QString busy = working() ? QStringLiteral("The kept answers are being read.") : QString();
  const QString none = m_model.rowCount() == 0 ? QStringLiteral("Nothing is kept.") : QString();
  offer(*m_verify, busy.isEmpty() ? none : busy);
  offer(*m_collect, busy);
  offer(*m_import, busy);
  offer(*m_export, busy.isEmpty() ? none : busy);
  offer(*m_why, busy.isEmpty() ? whyNoAnswers() : busy);
  offer(*m_clear, busy.isEmpty() ? none : busy);
}

/// Returns why no answers about the plan on screen can be shown; empty if they can.
QString CacheDialog::whyNoAnswers() const {
  const auto snapshot = m_context.document.snapshot();
  if (snapshot == nullptr) return QStringLiteral("No network is open.");
  const std::string& compiler = snapshot->plan->options.compiler;
  if (compiler == kOwnCompiler || dynamic_cast<const ProbedCompiler*>(findCompiler(compiler)) != nullptr) return {};
  return QStringLiteral("The plan on screen is for %1, of which nothing is kept.").arg(qs(compiler));
}

void CacheDialog::sayWhy() {
  const auto snapshot = m_context.document.snapshot();
  if (!whyNoAnswers().isEmpty()) return;
  look([plan = snapshot->plan, threads = m_context.runs.settings().threads](DiskStore& store) -> Result<std::string> {
    if (plan->options.compiler == kOwnCompiler)
      return timesText(TRY(keptTimes(plan, {.threads = threads, .timingCache = timingCachePath()})));
    BuildOptions options{.onlyMade = true};
    if (!plan->model->weightless) options.verifyOn = randomInputs(*plan, {});
    const auto& compiler = dynamic_cast<const ProbedCompiler&>(*findCompiler(plan->options.compiler));
    const auto shared = sharedStoreOfVariables(CacheMode::Read);
    return whyText(TRY(whyKept(compiler, plan, {store, shared.get()}, options)));
  });
}

void CacheDialog::exportTo(const std::string& path) {
  look([path](DiskStore& store) -> Result<std::string> {
    const KeptFileWritten written = TRY(writeKeptFile(store, path, TRY(signingKeyOfVariables())));
    return counted(written.entries, "answer") + " written to " + path + ".";
  });
}

void CacheDialog::importFrom(const std::string& path) {
  look([path](DiskStore& store) -> Result<std::string> {
    const KeptFileRead read = TRY(readKeptFile(store, path, TRY(signingKeyOfVariables())));
    std::string text = counted(read.kept, "answer") + " added, " + std::to_string(read.known) + " known before.";
    if (read.notKept > 0) text += " " + std::to_string(read.notKept) + " could not be kept.";
    if (!read.refused.empty())
      text += " " + std::to_string(read.refused.size()) + " refused: " + read.refused.front().why + ".";
    return text;
  });
}

void CacheDialog::clear() {
  const auto answer = QMessageBox::question(
      this, windowTitle(), QStringLiteral("Remove all %1?").arg(plural(m_model.rowCount(), QStringLiteral("answer"))),
      QMessageBox::Yes | QMessageBox::Cancel, QMessageBox::Cancel);
  if (answer != QMessageBox::Yes) return;
  look([](DiskStore& store) -> Result<std::string> { return std::to_string(TRY(store.clear())) + " were removed."; });
}

void CacheDialog::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_F5 && !working()) {
    look({});
    return askShared();
  }
  QDialog::keyPressEvent(event);
}

}  // namespace fusescope
