#include "ui/dialogs/compilers_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMessageBox>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "session/command_line.h"
#include "ui/dialogs/add_environment_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/environment_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

constexpr int kListWidthInLetters = 110, kListHeightInLines = 30;
constexpr int kNameColumn = 0, kVersionColumn = 1, kFoundColumn = 2;
constexpr int kEnvironmentRole = Qt::UserRole, kCompilerRole = Qt::UserRole + 1;

}  // namespace

CompilersDialog::CompilersDialog(const DockContext& context, Environments& environments, QWidget* parent)
    : QDialog(parent),
      m_context(context),
      m_environments(environments),
      m_list(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_said(new QLabel) {
  setWindowTitle(QStringLiteral("Compilers"));
  const QFontMetrics metrics(font());
  resize(kListWidthInLetters * metrics.averageCharWidth(), kListHeightInLines * metrics.lineSpacing());
  makeList();
  m_detail->setAccessibleName(QStringLiteral("What is known about it"));
  m_detail->document()->setDocumentMargin(spacing::kMedium);
  auto* parts = new QSplitter(Qt::Vertical);
  parts->setChildrenCollapsible(false);
  parts->addWidget(m_list);
  parts->addWidget(m_detail);
  parts->setStretchFactor(0, 3);
  parts->setStretchFactor(1, 2);
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->hide();
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(parts, 1);
  layout->addWidget(m_said);
  layout->addWidget(makeButtons());
  connect(&environments, &Environments::changed, this, &CompilersDialog::renew);
  connect(&environments, &Environments::failed, this, [this](const QString& problem) {
    m_said->setText(QStringLiteral("✗ ") + problem);
    m_said->show();
  });
  connect(&context.controller.compilers(), &Compilers::changed, this, &CompilersDialog::renewDetail);
  environments.ask();
  context.controller.compilers().ask();
  renew();
  m_list->setFocus();
}

void CompilersDialog::makeList() {
  m_list->setAccessibleName(QStringLiteral("Environments and compilers"));
  m_list->setHeaderLabels(
      {QStringLiteral("Environment, compiler"), QStringLiteral("Version"), QStringLiteral("What was found")});
  m_list->setUniformRowHeights(true);
  m_list->setAllColumnsShowFocus(true);
  m_list->header()->setStretchLastSection(true);
  const int letter = QFontMetrics(font()).averageCharWidth();
  m_list->setColumnWidth(kNameColumn, 34 * letter);
  m_list->setColumnWidth(kVersionColumn, 16 * letter);
  connect(m_list, &QTreeWidget::currentItemChanged, this, &CompilersDialog::renewDetail);
}

QWidget* CompilersDialog::makeButtons() {
  auto* add = named(
      plainButton(QStringLiteral("&Add…"), QStringLiteral("Adds an environment that a command reaches (Ins)")), "add");
  m_remove = named(plainButton(QStringLiteral("&Remove"), QStringLiteral("Removes it from the list (Del)")), "remove");
  m_again =
      named(plainButton(QStringLiteral("&Try again"),
                        QStringLiteral("Checks again what is there, for example after a package was installed (F5)")),
            "again");
  m_confirm = named(
      plainButton(QStringLiteral("Con&firm…"), QStringLiteral("Allows its command to be started on this machine")),
      "confirm");
  m_copy = named(plainButton(QStringLiteral("&Copy as command"),
                             QStringLiteral("A shell command that lists the installed compilers")),
                 "copyCommand");
  connect(add, &QPushButton::clicked, this, &CompilersDialog::addNew);
  connect(m_remove, &QPushButton::clicked, this, &CompilersDialog::remove);
  connect(m_again, &QPushButton::clicked, this, &CompilersDialog::lookAgain);
  connect(m_confirm, &QPushButton::clicked, this, &CompilersDialog::confirm);
  connect(m_copy, &QPushButton::clicked, this, &CompilersDialog::copy);
  auto* close = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  for (QPushButton* button : {add, m_remove, m_again, m_confirm, m_copy}) layout->addWidget(button);
  layout->addStretch(1);
  layout->addWidget(close);
  return row;
}

void CompilersDialog::renew() {
  const QTreeWidgetItem* before = m_list->currentItem();
  const QVariant environment = before == nullptr ? QVariant() : before->data(0, kEnvironmentRole);
  const QVariant compiler = before == nullptr ? QVariant() : before->data(0, kCompilerRole);
  {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const KnownEnvironment& known : m_environments.all()) addRows(known);
    m_list->expandAll();
    QTreeWidgetItemIterator each(m_list);
    for (; *each != nullptr; ++each)
      if ((*each)->data(0, kEnvironmentRole) == environment && (*each)->data(0, kCompilerRole) == compiler)
        m_list->setCurrentItem(*each);
    if (m_list->currentItem() == nullptr) m_list->setCurrentItem(m_list->topLevelItem(0));
    showAdded();
  }
  if (!m_environments.problem().isEmpty()) {
    m_said->setText(QStringLiteral("✗ ") + m_environments.problem());
    m_said->show();
  }
  renewDetail();
}

/// Selects the environment that was just added, as soon as it is in the list.
void CompilersDialog::showAdded() {
  for (int row = 0; !m_added.empty() && row < m_list->topLevelItemCount(); ++row) {
    QTreeWidgetItem* item = m_list->topLevelItem(row);
    const KnownEnvironment* known = m_environments.find(m_added);
    if (known == nullptr || !known->isAdded || item->data(0, kEnvironmentRole).toString() != qs(m_added)) continue;
    m_added.clear();
    m_list->setCurrentItem(item);
    m_list->scrollToItem(item, QAbstractItemView::PositionAtCenter);
  }
}

void CompilersDialog::addRows(const KnownEnvironment& known) {
  const Theme& theme = m_context.theme();
  const QString name = qs(known.environment.name);
  auto* row = new QTreeWidgetItem(m_list, {name, QString(), foundWords(known)});
  row->setData(0, kEnvironmentRole, name);
  QFont bold = font();
  bold.setBold(true);
  row->setFont(kNameColumn, bold);
  row->setToolTip(kFoundColumn, foundWords(known));
  if (isOfNoUse(known)) row->setForeground(kFoundColumn, theme.error);
  if (!known.found) return;
  for (const FoundCompiler& compiler : known.found->compilers) {
    auto* below = new QTreeWidgetItem(row, {qs(compiler.compiler), qs(compiler.version), foundWords(compiler)});
    below->setData(0, kEnvironmentRole, name);
    below->setData(0, kCompilerRole, qs(compiler.compiler));
    const bool isMissing = compiler.version.empty() && !compiler.problem.empty();
    if (compiler.problem.empty()) below->setForeground(kFoundColumn, theme.success);
    if (isMissing)
      for (int column = 0; column <= kFoundColumn; ++column) below->setForeground(column, theme.dimText);
    if (!isMissing && !compiler.problem.empty()) below->setForeground(kFoundColumn, theme.error);
  }
}

const KnownEnvironment* CompilersDialog::current() const {
  const QTreeWidgetItem* item = m_list->currentItem();
  return item == nullptr ? nullptr : m_environments.find(item->data(0, kEnvironmentRole).toString().toStdString());
}

const FoundCompiler* CompilersDialog::currentCompiler() const {
  const KnownEnvironment* known = current();
  if (known == nullptr || !known->found) return nullptr;
  const std::string name = m_list->currentItem()->data(0, kCompilerRole).toString().toStdString();
  const auto found = std::ranges::find(known->found->compilers, name, &FoundCompiler::compiler);
  return found == known->found->compilers.end() ? nullptr : &*found;
}

void CompilersDialog::renewDetail() {
  const KnownEnvironment* known = current();
  const QString none = QStringLiteral("Choose an environment first.");
  offer(*m_remove, known == nullptr ? none
                   : known->isAdded ? QString()
                   : known->isOfSession
                       ? QStringLiteral("The session uses it: it is in the list as long as that session is open.")
                       : QStringLiteral("It was found automatically: it is in the list as long as it exists."));
  offer(*m_again, known == nullptr      ? none
                  : !known->isConfirmed ? QStringLiteral("Its command is not confirmed.")
                  : known->isLookedAt   ? QStringLiteral("It is being examined.")
                                        : QString());
  offer(*m_confirm, known == nullptr ? none : known->isConfirmed ? QStringLiteral("It is confirmed.") : QString());
  m_confirm->setVisible(known != nullptr && !known->isConfirmed);
  offer(*m_copy, known == nullptr ? none : QString());
  if (known == nullptr)
    return m_detail->setPlainText(m_environments.isListing()
                                      ? QStringLiteral("Looking for environments …")
                                      : QStringLiteral("There is no Python on PATH. Add an environment."));
  const FoundCompiler* compiler = currentCompiler();
  m_detail->setHtml(compiler == nullptr ? environmentHtml(*known)
                                        : compilerHtml(*known, *compiler, m_context.controller.compilers()));
}

void CompilersDialog::addNew() {
  auto* dialog = opened<AddEnvironmentDialog>(m_environments, this);
  dialog->setObjectName(QStringLiteral("addEnvironment"));
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    m_added = dialog->environment().name;
    renew();
  });
}

void CompilersDialog::remove() {
  if (const KnownEnvironment* known = current()) m_environments.remove(known->environment.name);
}

void CompilersDialog::lookAgain() {
  if (const KnownEnvironment* known = current()) m_environments.lookAgain(known->environment.name);
}

void CompilersDialog::confirm() {
  const KnownEnvironment* known = current();
  if (known == nullptr) return;
  auto* box = new QMessageBox(QMessageBox::Question, QStringLiteral("Start this command on this machine?"),
                              qs(known->environment.command), QMessageBox::Cancel, this);
  box->setTextFormat(Qt::PlainText);
  box->setInformativeText(
      QStringLiteral(
          "It runs with your rights each time that Fusescope examines “%1”. Confirm it only if you know what it does.")
          .arg(qs(known->environment.name)));
  QPushButton* yes = box->addButton(QStringLiteral("&Start it"), QMessageBox::AcceptRole);
  box->setDefaultButton(QMessageBox::Cancel);
  box->setAttribute(Qt::WA_DeleteOnClose);
  connect(yes, &QPushButton::clicked, this, [this, name = known->environment.name] { m_environments.confirm(name); });
  box->open();
}

void CompilersDialog::copy() {
  const KnownEnvironment* known = current();
  if (known == nullptr) return;
  const CommandLine line{.commands = {{"fusescope", "compilers", "--env", known->environment.command}}, .files = {}};
  QApplication::clipboard()->setText(qs(line.text()));
  m_said->setText(QStringLiteral("Copied: %1").arg(qs(line.text())));
  m_said->show();
}

void CompilersDialog::keyPressEvent(QKeyEvent* event) {
  const auto press = [](QPushButton* button) { button->click(); };
  switch (event->key()) {
    case Qt::Key_Insert:
      return addNew();
    case Qt::Key_Delete:
      return press(m_remove);
    case Qt::Key_F5:
      return press(m_again);
    default:
      return QDialog::keyPressEvent(event);
  }
}

}  // namespace fusescope
