#include "ui/dialogs/export_dialog.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QRegularExpression>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "base/files.h"
#include "target/target_table.h"
#include "ui/dialogs/export_memory.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

const QString kDo = QStringLiteral("do"), kFormatLink = QStringLiteral("format:");

QString link(const QString& what, const QString& words) {
  return QStringLiteral("<a href='%1:%2'>%3</a>").arg(kDo, what, words.toHtmlEscaped());
}

QString sentence(QString words) {
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

}  // namespace

ExportDialog::ExportDialog(const DockContext& context, WorkerClient& worker, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_format(new QComboBox),
      m_check(new QCheckBox(QStringLiteral("Check its numbers on"))),
      m_inputs(new InputsButton(context)),
      m_summary(new QLabel),
      m_form(new QFormLayout),
      m_fields(nullptr),
      m_pages(new QStackedWidget),
      m_preview(new QPlainTextEdit),
      m_report(new QTextBrowser),
      m_job(worker) {
  setWindowTitle(QStringLiteral("Export"));
  resize(680, 560);
  m_summary->setWordWrap(true);
  m_preview->setReadOnly(true);
  m_preview->setFont(monoFont());
  m_preview->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_preview->setAccessibleName(QStringLiteral("Preview"));
  m_report->setOpenLinks(false);
  m_report->setAccessibleName(QStringLiteral("What was written"));
  m_report->document()->setDocumentMargin(8);
  m_pages->addWidget(m_preview);
  m_pages->addWidget(m_report);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  m_cancel = plainButton(QStringLiteral("Cancel"));
  buttons->addButton(m_cancel, QDialogButtonBox::ActionRole);
  buttons->addButton(copyCommandButton(context, [this] { return command(); }), QDialogButtonBox::ActionRole);
  m_save = buttons->addButton(QStringLiteral("Save as…"), QDialogButtonBox::ActionRole);
  m_save->setDefault(true);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(makeForm());
  layout->addWidget(m_summary);
  layout->addWidget(m_pages, 1);
  layout->addWidget(buttons);
  connect(m_format, qOverload<int>(&QComboBox::currentIndexChanged), this, &ExportDialog::refresh);
  connect(&context.document, &PlanDocument::planChanged, this, &ExportDialog::refresh);
  connect(&context.runs, &Runs::settingsChanged, this, &ExportDialog::renew);
  connect(&m_job, &WorkerJob::changed, this, &ExportDialog::renew);
  connect(m_save, &QPushButton::clicked, this, &ExportDialog::save);
  connect(m_cancel, &QPushButton::clicked, &m_job, &WorkerJob::cancel);
  connect(m_report, &QTextBrowser::anchorClicked, this, &ExportDialog::follow);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  beginAsLast();
  refresh();
}

/// Begins with the format and the options of the last export.
void ExportDialog::beginAsLast() {
  const QSignalBlocker quiet(m_format);
  if (const int last = m_format->findData(rememberedFormat()); last >= 0) m_format->setCurrentIndex(last);
  for (const Exporter* each : exporters()) {
    const RememberedExport chosen = rememberedExport(*each, QString());
    m_fields->choose(*each, chosen.own);
    if (each->takesSamples) m_check->setChecked(chosen.check);
  }
}

QLayout* ExportDialog::makeForm() {
  for (const Exporter* each : exporters()) m_format->addItem(qs(each->title), qs(each->name));
  m_check->setChecked(true);
  describe(*m_check, usualOption<ExportSettings>("check"));
  m_form->addRow(QStringLiteral("Format"), m_format);
  m_fields = new ExporterFields(*m_form, this);
  m_form->addRow(m_check, m_inputs);
  connect(m_fields, &ExporterFields::changed, this, &ExportDialog::refresh);
  return m_form;
}

const Exporter& ExportDialog::exporter() const {
  return *findExporter(m_format->currentData().toString().toStdString());
}

/// Is called when the format, the plan or an option has changed, so that what is shown no longer applies.
void ExportDialog::refresh() {
  const Exporter& chosen = exporter();
  const Plan& plan = *m_context.document.snapshot()->plan;
  const bool network = !chosen.isText;
  m_fields->show(chosen, rememberedExport(chosen, qs(plan.target.name)).own, plan);
  showRow(*m_form, m_inputs, chosen.takesSamples);
  m_pages->setCurrentIndex(network ? 1 : 0);
  m_report->clear();
  m_report->setPlaceholderText(
      chosen.name == "pt2"
          ? QStringLiteral("When the program is made, you see here what to know about it: nodes that stay in float32, "
                           "and why.")
          : QStringLiteral("When the network is made, you see here what to know about it: Casts that were added, a "
                           "raised opset, edges that the plan keeps wider."));
  m_summary->setText(sentence(qs(chosen.summary)));
  m_writable = false;
  renew();
  if (network) return m_context.jobs.cancel(QStringLiteral("export"));
  const auto snapshot = m_context.document.snapshot();
  const auto work = [plan = snapshot->plan, write = chosen.write, own = m_fields->values(chosen)](const StopToken&) {
    return write(*plan, {.path = {}, .own = own});
  };
  m_context.jobs.run(QStringLiteral("export"), this, work, [this](const Result<Exported>& file) { preview(file); });
}

void ExportDialog::preview(const Result<Exported>& file) {
  m_writable = file.ok();
  m_pages->setCurrentIndex(file.ok() ? 0 : 1);
  m_preview->setPlainText(file.ok() ? qs(file.value().text) : QString());
  if (file.ok()) {
    QString said = m_summary->text();
    for (const ExportNote& note : file.value().notes)
      said += QStringLiteral("\n⚠ ") + sentence(withoutOptions(qs(note.text)));
    m_summary->setText(said);
  } else {
    m_summary->setText(QStringLiteral("✗ This plan cannot be written in that format."));
    sayWhyNot(file.error());
  }
  renew();
}

void ExportDialog::renew() {
  const bool network = !exporter().isText, given = !m_context.runs.settings().inputs.empty();
  const QString busy = working() ? QStringLiteral("The network is being written: wait, or cancel it.") : QString();
  for (QWidget* field : std::initializer_list<QWidget*>{m_format, m_inputs}) offer(*field, busy);
  m_fields->offerAll(busy);
  offer(*m_check, !busy.isEmpty() ? busy
                  : given         ? QString()
                                  : QStringLiteral("Give inputs first: the numbers are checked on them."));
  offer(*m_save, !busy.isEmpty()         ? busy
                 : network || m_writable ? QString()
                                         : QStringLiteral("There is nothing to save: this plan cannot be written in "
                                                          "that format, or this is still being checked."));
  m_cancel->setVisible(network);
  offer(*m_cancel, working() ? QString() : QStringLiteral("Nothing is under way."));
  if (working()) m_summary->setText(m_job.text());
}

void ExportDialog::save() {
  const bool network = !exporter().isText;
  const QString folder = rememberedFolder();
  const QString path = QFileDialog::getSaveFileName(
      this, QStringLiteral("Export"),
      folder.isEmpty() ? besideModel(m_context.document, fileName()) : QDir(folder).filePath(fileName()));
  if (path.isEmpty()) return;
  remember(path);
  if (network) return saveNetwork(path);
  const Status written = writeFileAtomically(path.toStdString(), m_preview->toPlainText().toStdString());
  if (written.ok()) {
    accept();
  } else {
    QMessageBox::warning(this, QStringLiteral("Export"), problemText(written.error()));
  }
}

void ExportDialog::remember(const QString& path) const {
  rememberExport(exporter(), qs(m_context.document.snapshot()->plan->target.name),
                 {.check = m_check->isChecked(), .own = m_fields->chosen(exporter())}, path);
}

/// Returns the name of the file: that of the network or text that is exported.
QString ExportDialog::fileName() const {
  const QString extension = QString(qs(exporter().extension)).remove(QLatin1Char('.'));
  if (exporter().isText) return QStringLiteral("precision.") + extension;
  return QFileInfo(m_context.document.path()).completeBaseName() + QStringLiteral("_typed.") + extension;
}

WorkerRequest ExportDialog::request(const QString& path) const {
  ExportSettings settings{
      .format = std::string(exporter().name), .output = path.toStdString(), .own = m_fields->values(exporter())};
  settings.check = exporter().takesSamples && m_check->isChecked() && !m_context.runs.settings().inputs.empty();
  return requestFor(m_context, settings);
}

/// Returns the command that writes the same files into its current folder.
CommandWork ExportDialog::command() const {
  return requestCommand(request(fileName()));
}

void ExportDialog::saveNetwork(const QString& path) {
  const WorkerRequest request = this->request(path);
  m_report->clear();
  m_job.start(
      request, [](const Json& reply) -> Result<Json> { return reply; },
      [this](const Result<Json>& written) {
        written.ok() ? showWritten(written.value()) : showRefused(written.error());
      });
}

void ExportDialog::showWritten(const Json& written) {
  const QString path = qs(written.value("path", std::string()));
  const Json bytes = written.value("bytes", Json());
  m_summary->setText(QStringLiteral("✓ Written: %1, %2")
                         .arg(path, bytesText(bytes.is_number() ? std::optional(bytes.get<std::int64_t>())
                                                                : std::optional<std::int64_t>())));
  QString text;
  if (const Json numbers = written.value("numbers", Json()); numbers.is_object())
    text = QStringLiteral("<p>%1</p>")
               .arg(sentence(withoutOptions(qs(numbers.value("summary", std::string())))).toHtmlEscaped());
  for (const Json& note : written.value("warnings", Json::array()))
    text += QStringLiteral("<p>⚠ %1</p>")
                .arg(withLinks(sentence(withoutOptions(qs(note.get<std::string>()))), *m_context.document.snapshot()));
  m_report->setHtml(text.isEmpty() ? QStringLiteral("<p>There is nothing else to know about it.</p>") : text);
}

void ExportDialog::showRefused(const Diagnostic& problem) {
  if (problem.cancelled) return m_summary->setText(QStringLiteral("Cancelled; nothing was written."));
  m_summary->setText(QStringLiteral("✗ Nothing was written."));
  sayWhyNot(problem);
}

/// Returns `html` with links to what it mentions: Tune, the session's tolerance, and other formats, which are replaced
/// by their titles.
QString ExportDialog::withSteps(QString html) const {
  html.replace(QStringLiteral("Tune…"), link(QStringLiteral("tune"), QStringLiteral("Tune…")));
  const QString tolerance = QStringLiteral("the tolerance of the session");
  html.replace(tolerance, link(QStringLiteral("run_settings"), tolerance));
  for (const Exporter* other : exporters())
    if (other != &exporter())
      html.replace(QRegularExpression(QStringLiteral("the format %1(?![\\w-])").arg(qs(other->name))),
                   QStringLiteral("the format ") + link(kFormatLink + qs(other->name), qs(other->title)));
  return html;
}

void ExportDialog::follow(const QUrl& to) {
  const QString what = QUrl::fromPercentEncoding(to.path(QUrl::FullyEncoded).toUtf8());
  if (to.scheme() != kDo) return goTo(m_context, what, this);
  if (what.startsWith(kFormatLink)) return setFormat(what.mid(kFormatLink.size()));
  m_context.act(what.toLatin1().constData());
}

/// Shows the problem instead of the preview, with links to its place and to what helps.
void ExportDialog::sayWhyNot(const Diagnostic& problem) {
  QString place;
  for (const std::string& name : {problem.where.node, problem.where.value})
    if (!name.empty()) place += QStringLiteral("<p>At %1</p>").arg(nodeLink(name));
  Diagnostic said = problem;
  said.where = {};  // the title above contains the place
  m_report->setHtml(
      place +
      QStringLiteral("<p>%1</p>").arg(withSteps(withLinks(problemInWords(said), *m_context.document.snapshot()))));
}

}  // namespace fusescope
