#include "ui/docks/slice_chooser.h"

#include "ui/widgets/wrap_layout.h"

namespace fusescope {

SliceChooser::SliceChooser(QWidget* parent)
    : QWidget(parent),
      m_rows(new QComboBox),
      m_columns(new QComboBox),
      m_down(new QLabel(QStringLiteral("down"))),
      m_across(new QLabel(QStringLiteral("across"))) {
  auto* layout = new WrapLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  m_rows->setAccessibleName(QStringLiteral("Axis of the rows"));
  m_columns->setAccessibleName(QStringLiteral("Axis of the columns"));
  for (QWidget* widget : std::initializer_list<QWidget*>{m_down, m_rows, m_across, m_columns})
    layout->addWidget(widget);
  connect(m_rows, qOverload<int>(&QComboBox::activated), this, [this] { takeAxes(true); });
  connect(m_columns, qOverload<int>(&QComboBox::activated), this, [this] { takeAxes(false); });
}

void SliceChooser::setDims(const Dims& dims) {
  if (dims != m_dims || m_choice.at.size() != dims.size()) m_choice = usualSlice(dims);
  m_dims = dims;
  for (std::size_t axis = m_indices.size(); axis < dims.size(); ++axis) {
    m_labels.push_back(new QLabel(QStringLiteral("axis %1").arg(axis)));
    auto* index = m_indices.emplace_back(new QSpinBox);
    index->setAccessibleName(QStringLiteral("Index along axis %1").arg(axis));
    index->setKeyboardTracking(false);
    layout()->addWidget(m_labels.back());
    layout()->addWidget(index);
    connect(index, qOverload<int>(&QSpinBox::valueChanged), this, [this, axis](int value) {
      m_choice.at[axis] = value;
      emit changed();
    });
  }
  for (QComboBox* box : {m_rows, m_columns}) {
    const QSignalBlocker quiet(box);
    box->clear();
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      box->addItem(QStringLiteral("axis %1 (%2)").arg(axis).arg(static_cast<qlonglong>(dims[axis])));
  }
  show();
}

void SliceChooser::choose(const SliceChoice& choice) {
  if (choice == m_choice || choice.at.size() != m_dims.size()) return;
  m_choice = choice;
  show();
  emit changed();
}

/// Both axes are always different: if the user chooses the axis that the other chooser has, the other one gets the
/// previous axis of this chooser.
void SliceChooser::takeAxes(bool rowsChanged) {
  const int rows = m_choice.rows, columns = m_choice.columns;
  m_choice.rows = m_rows->currentIndex();
  m_choice.columns = m_columns->currentIndex();
  if (m_choice.rows == m_choice.columns)
    (rowsChanged ? m_choice.columns : m_choice.rows) = rowsChanged ? rows : columns;
  show();
  emit changed();
}

void SliceChooser::show() {
  const bool many = m_dims.size() > 2;
  for (QWidget* widget : std::initializer_list<QWidget*>{m_down, m_rows, m_across, m_columns}) widget->setVisible(many);
  m_rows->setCurrentIndex(m_choice.rows);
  m_columns->setCurrentIndex(m_choice.columns);
  for (std::size_t axis = 0; axis < m_indices.size(); ++axis) {
    const bool isThere =
        axis < m_dims.size() && static_cast<int>(axis) != m_choice.rows && static_cast<int>(axis) != m_choice.columns;
    m_labels[axis]->setVisible(isThere);
    m_indices[axis]->setVisible(isThere);
    if (!isThere) continue;
    const QSignalBlocker quiet(m_indices[axis]);
    m_indices[axis]->setRange(0, static_cast<int>(std::max<std::int64_t>(0, m_dims[axis] - 1)));
    m_indices[axis]->setValue(static_cast<int>(m_choice.at[axis]));
    m_labels[axis]->setText(QStringLiteral("axis %1 of %2:").arg(axis).arg(static_cast<qlonglong>(m_dims[axis])));
  }
}

}  // namespace fusescope
