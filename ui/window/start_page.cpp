#include "ui/window/start_page.h"

#include <QCommandLinkButton>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <QVariant>
#include <algorithm>

#include "ui/document/plan_document.h"
#include "ui/theme/theme.h"

namespace fusescope {

namespace {

struct Description {
  const char* name;
  const char* text;
};
constexpr Description kDescriptions[] = {
    {"fp16_overflow", "Six nodes, one of which overflows float16: find it, pin it, and the rest stays f16"},
    {"squeezenet1_1", "A small image classifier: convolutions, activations and pooling fuse; pins split them"},
    {"digits", "A residual network that was really trained, on handwritten digits, with held-out images beside it"},
    {"bert_tiny", "A two-layer transformer: attention, layer norm and GELU found and fused"},
    {"tiny_resnet_dynbatch", "Residual blocks with a batch size that is chosen at run time"},
    {"moe_dense", "A mixture of sixteen equal experts with different weights: built once, used sixteen times"},
    {"long_double", "int64 and float64 inside: what is truncated, what falls back, and why"},
};

QLabel* heading(const QString& text) {
  auto* label = new QLabel(text);
  label->setFont(uiFont(11, QFont::DemiBold));
  return label;
}

QPushButton* card(const QString& title, const QString& text) {
  auto* button = new QPushButton;
  button->setCursor(Qt::PointingHandCursor);
  button->setAccessibleName(title);
  button->setMinimumHeight(74);
  auto* layout = new QVBoxLayout(button);
  layout->setContentsMargins(14, 10, 14, 10);
  layout->setSpacing(3);
  auto* first = new QLabel(title);
  first->setFont(uiFont(10.5, QFont::DemiBold));
  auto* second = new QLabel(text);
  second->setWordWrap(true);
  second->setForegroundRole(QPalette::PlaceholderText);
  for (QLabel* label : {first, second}) {
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    layout->addWidget(label);
  }
  layout->addStretch();
  return button;
}

}  // namespace

std::vector<BundledSample> bundledSamples() {
  const QString here = QCoreApplication::applicationDirPath();
  for (const QString& folder :
       {here + "/../resources/samples", here + "/../../resources/samples", here + "/../share/fusescope/samples",
        QStringLiteral(FUSESCOPE_SOURCE_DIR "/resources/samples")}) {
    std::vector<BundledSample> samples;
    for (const Description& description : kDescriptions) {
      const QString path =
          QDir::cleanPath(folder + QLatin1Char('/') + description.name + QStringLiteral("/model.onnx"));
      if (QFileInfo::exists(path)) samples.push_back({description.name, path, QString::fromUtf8(description.text)});
    }
    if (!samples.empty()) return samples;
  }
  return {};
}

bool isBundledSample(const QString& path) {
  return std::ranges::any_of(bundledSamples(),
                             [&](const BundledSample& sample) { return QFileInfo(sample.path) == QFileInfo(path); });
}

StartPage::StartPage(QWidget* parent) : QWidget(parent), m_recent(new QVBoxLayout), m_recentBox(new QWidget) {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(48, 40, 48, 40);
  column->setSpacing(10);
  auto* title = new QLabel(QStringLiteral("Fusescope"));
  title->setFont(uiFont(24, QFont::DemiBold));
  auto* subtitle = new QLabel(
      QStringLiteral("See what a compiler does to a network: what it fuses, which precision each layer gets, and why. "
                     "Change it, build it, measure the difference."));
  subtitle->setWordWrap(true);
  subtitle->setForegroundRole(QPalette::PlaceholderText);
  auto* open = new QPushButton(QStringLiteral("Open a model…  Ctrl+O"));
  open->setDefault(true);
  open->setMinimumSize(230, 34);
  auto* drop = new QLabel(QStringLiteral("or drop a model, plan, engine or session anywhere in this window"));
  drop->setForegroundRole(QPalette::PlaceholderText);
  auto* openRow = new QHBoxLayout;
  openRow->addWidget(open);
  openRow->addWidget(drop);
  openRow->addStretch();
  column->addWidget(title);
  column->addWidget(subtitle);
  column->addSpacing(8);
  column->addLayout(openRow);
  column->addSpacing(18);

  const auto samples = bundledSamples();
  if (!samples.empty()) column->addWidget(heading(QStringLiteral("Samples")));
  auto* grid = new QGridLayout;
  grid->setSpacing(10);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    QPushButton* button = card(samples[i].name, samples[i].description);
    connect(button, &QPushButton::clicked, this, [this, path = samples[i].path] { emit openRequested(path); });
    grid->addWidget(button, static_cast<int>(i / 2), static_cast<int>(i % 2));
  }
  column->addLayout(grid);
  column->addSpacing(18);
  auto* recentColumn = new QVBoxLayout(m_recentBox);
  recentColumn->setContentsMargins(0, 0, 0, 0);
  recentColumn->addWidget(heading(QStringLiteral("Recent")));
  m_recent->setSpacing(2);
  recentColumn->addLayout(m_recent);
  column->addWidget(m_recentBox);
  column->addStretch();

  page->setMaximumWidth(900);
  auto* centred = new QWidget;
  auto* row = new QHBoxLayout(centred);
  row->setContentsMargins(0, 0, 0, 0);
  row->addStretch(1);
  row->addWidget(page, 10);
  row->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(centred);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll);
  connect(open, &QPushButton::clicked, this, &StartPage::browseRequested);
  refresh();
}

void StartPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void StartPage::refresh() {
  while (QLayoutItem* item = m_recent->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();  // deleted later, because it may be the button that was clicked
    delete item;
  }
  const QStringList recent = PlanDocument::recentFiles();
  for (const QString& path : recent) {
    auto* link = new QPushButton(path.section(QLatin1Char('/'), -3));
    link->setProperty("link", true);
    link->setCursor(Qt::PointingHandCursor);
    link->setToolTip(path);
    connect(link, &QPushButton::clicked, this, [this, path] { emit openRequested(path); });
    m_recent->addWidget(link, 0, Qt::AlignLeft);
  }
  m_recentBox->setVisible(!recent.isEmpty());
}

}  // namespace fusescope
