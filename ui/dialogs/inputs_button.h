#pragma once

#include <QPushButton>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// A button that shows the session's inputs, and opens the dialog for them.
class InputsButton : public QPushButton {
  Q_OBJECT

 public:
  explicit InputsButton(const DockContext& context, QWidget* parent = nullptr);

 private:
  void renew();
  DockContext m_context;
};

}  // namespace fusescope
