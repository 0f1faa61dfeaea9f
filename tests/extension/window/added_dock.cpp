#include <QLabel>
#include <QVBoxLayout>
#include <QVariant>

#include "ir/graph.h"
#include "ui/docks/dock.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// The name of the network.
class AddedDock : public Dock {
 public:
  explicit AddedDock(const DockContext& context) : Dock(context), m_text(new QLabel) {
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_text);
    connect(&context.document, &PlanDocument::planChanged, this, &Dock::refreshAll);
  }

 protected:
  void renew(Parts) override {
    setProperty("renewed", property("renewed").toInt() + 1);
    const auto snapshot = m_context.document.snapshot();
    m_text->setText(snapshot ? plural(static_cast<std::int64_t>(snapshot->graph().nodeCount()), "node") : QString());
  }

 private:
  QLabel* m_text;
};

}  // namespace

extern const DockForm kAddedDock{"Added", "Ctrl+9", Qt::BottomDockWidgetArea, [](const DockContext& context) -> Dock* {
                                   auto* dock = new AddedDock(context);
                                   dock->setObjectName("added");
                                   return dock;
                                 }};

}  // namespace fusescope
