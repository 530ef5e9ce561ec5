"""Flows: what the events of a node tell about it, a column each."""

from oddhop.tables.flows.columns import FlowColumn as FlowColumn
from oddhop.tables.flows.columns import Flows as Flows
from oddhop.tables.flows.columns import flow_columns as flow_columns
from oddhop.tables.flows.columns import flow_values as flow_values
